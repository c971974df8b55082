package breaker

import "fmt"

// Circuit is the state of a breaker's circuit.
type Circuit uint8

// The three circuits, in order of severity. The zero value is a closed circuit.
const (
	Closed   Circuit = iota // every call is admitted
	HalfOpen                // a few probes are admitted
	Open                    // no call is admitted
)

var circuitNames = [...]string{Closed: "closed", HalfOpen: "half-open", Open: "open"}

// String returns "closed", "half-open" or "open".
func (c Circuit) String() string {
	if int(c) < len(circuitNames) {
		return circuitNames[c]
	}
	return fmt.Sprintf("circuit(%d)", uint8(c))
}

// MarshalText returns [Circuit.String], or an error if c is not one of the three circuits.
func (c Circuit) MarshalText() ([]byte, error) {
	if int(c) >= len(circuitNames) {
		return nil, fmt.Errorf("breaker: %d is not a circuit state; they are closed, half-open and open", uint8(c))
	}
	return []byte(circuitNames[c]), nil
}

// UnmarshalText parses the output of MarshalText.
func (c *Circuit) UnmarshalText(text []byte) error {
	for i, name := range circuitNames {
		if name == string(text) {
			*c = Circuit(i)
			return nil
		}
	}
	return fmt.Errorf("breaker: circuit %q is unknown; it is closed, half-open or open", text)
}
