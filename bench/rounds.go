package main

import (
	"context"
	"fmt"
	"slices"
)

// side is one of the two that are compared: it does its work once and returns its
// speed.
type side struct {
	name string
	run  func(ctx context.Context, b *bench) (perSecond float64, err error)
}

// compare runs both sides round by round, each first in every other round, and
// returns the ratio of their medians.
func compare(ctx context.Context, b *bench, own, against side) (ratio float64, how string, err error) {
	var speeds [2][]float64
	var used [2]string
	for round := range b.rounds {
		for turn := range 2 {
			i := (round + turn) % 2
			s := [2]side{own, against}[i]
			v, err := s.run(ctx, b)
			if err != nil {
				return 0, "", fmt.Errorf("%s: %w", s.name, err)
			}
			speeds[i] = append(speeds[i], v)
			used[i], b.used = b.used, ""
		}
	}
	o, a := median(speeds[0]), median(speeds[1])
	how = fmt.Sprintf("%s %.0f/s %.0f, %s %.0f/s %.0f; medians of %d rounds in turn, then each round",
		own.name, o, speeds[0], against.name, a, speeds[1], b.rounds)
	if used[0] != "" && used[1] != "" {
		how += fmt.Sprintf("; µs of a processor for a message of the last round: %s: %s; %s: %s", own.name, used[0], against.name, used[1])
	}
	return o / a, how, nil
}

func median(all []float64) float64 {
	s := slices.Sorted(slices.Values(all))
	return s[len(s)/2]
}
