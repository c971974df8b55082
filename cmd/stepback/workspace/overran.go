package workspace

import (
	"fmt"
	"io"
	"sync"

	"stepback/engine"
)

// Overran returns a function that prints which states' tasks really took longer than virtual time waits for them, each
// state once.
func Overran(w io.Writer) func(engine.Overrun) {
	var mu sync.Mutex
	said := map[string]bool{}
	return func(o engine.Overrun) {
		mu.Lock()
		defer mu.Unlock()
		if !said[o.State] {
			said[o.State] = true
			fmt.Fprintf(w, "stepback: %v; --patience DURATION waits longer\n", o)
		}
	}
}
