// Command bench measures Traction against what it is built on, as ratios taken in
// one run on the same services. scripts/bench.sh starts the services and runs it.
//
// It is a module of its own, so that what it is compared with is no dependency of
// the product.
package main
