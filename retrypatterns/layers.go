package retrypatterns

import "math"

// Layer is one of several layers that attempt the same work. The attempts of all layers multiply.
type Layer struct {
	// Name describes the layer, such as "the Retry of the Map Rows".
	Name string `json:"layer"`
	// Attempts is the largest number of attempts that the layer makes, the first included, if the error does not
	// change.
	Attempts int `json:"attempts"`
	// Note says what the number leaves out; empty if nothing.
	Note string `json:"note,omitempty"`
}

// AttemptsOf returns the product of the attempts of all layers, at most the largest int.
func AttemptsOf(layers []Layer) int {
	product := 1
	for _, l := range layers {
		if l.Attempts > 1 && product > math.MaxInt/l.Attempts {
			return math.MaxInt
		}
		product *= max(l.Attempts, 1)
	}
	return product
}
