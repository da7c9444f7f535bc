// Command traction-worker flies the flights of a configuration: a worker for
// teams that write no Go.
package main

import (
	"os"

	"github.com/traction-go/traction/internal/workercmd"
)

func main() { os.Exit(workercmd.Main()) }
