package store

import (
	"context"
	"strconv"
	"strings"
)

// Server is what the store says of itself. A count is -1 where it may not be read.
type Server struct {
	Product   string // redis or valkey; "" where it may not be read
	Version   string
	Used      int64 // bytes of memory
	MaxMemory int64 // 0: no limit
}

// Server reads what the store says of itself; on a cluster, one of its nodes.
func (s *Store) Server(ctx context.Context) (Server, error) {
	out := Server{Used: -1, MaxMemory: -1}
	info, err := s.rdb.Info(ctx).Result()
	if err != nil {
		return out, failed(err)
	}
	v := map[string]string{}
	for line := range strings.Lines(info) {
		if k, x, ok := strings.Cut(strings.TrimSpace(line), ":"); ok {
			v[k] = x
		}
	}
	count := func(k string) int64 {
		n, err := strconv.ParseInt(v[k], 10, 64)
		if err != nil {
			return -1
		}
		return n
	}
	out.Product, out.Version = "redis", v["redis_version"]
	if v["valkey_version"] != "" { // it says a redis_version too, for old clients
		out.Product, out.Version = "valkey", v["valkey_version"]
	}
	out.Used, out.MaxMemory = count("used_memory"), count("maxmemory")
	return out, nil
}
