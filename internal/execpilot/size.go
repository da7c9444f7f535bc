package execpilot

import "strconv"

// SizeText writes a number of bytes with the largest unit that leaves it whole.
func SizeText(n int64) string {
	units := []string{"B", "KiB", "MiB", "GiB"}
	i := 0
	for i < len(units)-1 && n >= 1024 && n%1024 == 0 {
		n, i = n/1024, i+1
	}
	return strconv.FormatInt(n, 10) + units[i]
}
