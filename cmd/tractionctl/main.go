// Command tractionctl is the operator's command line: see and steer what
// Traction governs.
package main

import (
	"os"

	"github.com/traction-go/traction/internal/cli"
)

func main() { os.Exit(cli.Main()) }
