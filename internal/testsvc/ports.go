package testsvc

import (
	"errors"
	"math/rand/v2"
	"net"
)

// freePort returns a port p of which p and all p+offsets are free. It stays
// below the range that systems hand out to outgoing connections, so none of those
// takes the port while a server restarts.
func freePort(offsets ...int) (int, error) {
	for range 200 {
		p := 20000 + rand.IntN(12000)
		if allFree(p, append([]int{0}, offsets...)) {
			return p, nil
		}
	}
	return 0, errors.New("looking for free ports: 200 tries found none between 20000 and 32000; end what listens there")
}

func allFree(p int, offsets []int) bool {
	for _, o := range offsets {
		l, err := net.Listen("tcp", addr(p+o))
		if err != nil {
			return false
		}
		l.Close()
	}
	return true
}
