package governor

import (
	"slices"
	"sync"
)

// line passes jobs from one goroutine to another like a channel that is made for
// maxAloft of them, but takes memory only for those that wait: a process may have
// thousands of lanes, and most of them are idle.
type line struct {
	ready chan struct{} // one for each job that waits; closed when none will follow

	mu   sync.Mutex
	jobs []*job
}

func newLine() *line { return &line{ready: make(chan struct{}, maxAloft)} }

// put never waits while fewer than maxAloft jobs do.
func (q *line) put(j *job) {
	q.mu.Lock()
	q.jobs = append(q.jobs, j)
	q.mu.Unlock()
	q.ready <- struct{}{}
}

// take is for who has received from ready, once each time: the first that waits.
func (q *line) take() *job {
	q.mu.Lock()
	defer q.mu.Unlock()
	j := q.jobs[0]
	q.jobs = slices.Delete(q.jobs, 0, 1)
	return j
}
