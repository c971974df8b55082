// Package stepbacktest runs a state machine in a Go test: its functions are Go functions, its time is virtual, and what
// it did is compared with what was expected.
//
//	func TestOrders(t *testing.T) {
//		failures := 2
//		run := stepbacktest.Run(t, definition, Order{ID: "17"}, stepbacktest.Options{
//			Functions: stepback.Functions{
//				"charge": stepback.Func(func(_ context.Context, o Order) (Receipt, error) {
//					if failures--; failures >= 0 {
//						return Receipt{}, stepback.Errorf("CardServiceBusy", "try again")
//					}
//					return Receipt{ID: "r-17"}, nil
//				}),
//			},
//		})
//		run.WantSucceeded(Receipt{ID: "r-17"})
//		run.WantEntered("Charge")
//		run.WantAttempts("Charge", 3)
//		run.WantWaits("Charge", 2*time.Second, 4*time.Second)
//	}
//
// The execution has ended when Run returns, however long its waits are: time jumps to what is due next whenever
// nothing can run. Jitter is the same in every run with one Seed. The Want methods are assertions: one that does not
// hold reports what was expected, what happened, and the history of the execution with its times, and the test
// continues.
//
// Inputs and expected outputs are Go values. A json.RawMessage or a []byte is JSON text.
//
// It never listens, writes to no disk and calls nothing but the functions and integrations it is given.
package stepbacktest
