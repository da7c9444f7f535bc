package settle_test

import (
	"fmt"

	"github.com/traction-go/traction/pkg/settle"
)

// A timeout is held with growing patience, and parked when that is used up.
func ExampleDecide() {
	var move settle.Move
	for range 3 {
		move = settle.Decide(settle.Transient, move.Holds, settle.DefaultPolicy()).Move
		fmt.Println(move.Name(), move.Delay)
	}
	move = settle.Decide(settle.Transient, move.Holds, settle.DefaultPolicy()).Move
	fmt.Println(move.Name(), move.Reason)
	// Output:
	// hold 30s
	// hold 2m0s
	// hold 10m0s
	// park HOLD_BUDGET
}

// An expired token goes back to the runway's tail while the airport stops. Where
// nothing was stopped, in observe mode, it is held instead of flying at once.
func ExampleDecide_otherwise() {
	plan := settle.Decide(settle.AirportFault, settle.Holds{}, settle.DefaultPolicy())
	fmt.Println(plan.Move.Name())
	fmt.Println(plan.Otherwise.Name(), plan.Otherwise.Delay)
	// Output:
	// defer
	// hold 30s
}

// A stopped gate parks its flights, or leaves them where they are.
func ExampleFind() {
	fmt.Println(settle.Find(settle.FoundGateStopped, settle.ParkOnStop, settle.Holds{}).Move.Reason)
	fmt.Println(settle.Find(settle.FoundGateStopped, settle.StayOnStop, settle.Holds{}).Return)
	// Output:
	// GATE_STOPPED
	// true
}

func ExampleParseHolds() {
	h, err := settle.ParseHolds("transient=2,internal=1")
	fmt.Println(h.Transient, h.Internal, err)
	_, err = settle.ParseHolds("transient=two")
	fmt.Println(err)
	// Output:
	// 2 1 <nil>
	// hold budget "transient=two": want reason=count pairs such as transient=2,internal=1
}
