package jsonata

import (
	"math"

	"stepback/jsonvalue"
)

// budget holds the steps, depth and memory that an evaluation may still use.
type budget struct {
	steps, depth, memory int
	infinite             bool // measure found a number that JSON cannot represent
	// untilCheck is the number of steps until the next check for an interruption.
	untilCheck  int
	interrupted func() error
	stopped     error
}

const (
	checkEvery   = 4096
	bytesPerStep = 16
	bytesPerItem = 8
)

func limitError(message string) *Error { return &Error{Code: "U1001", Message: message} }

// spend takes n steps.
func (b *budget) spend(n int) *Error {
	b.steps -= n
	b.untilCheck -= n
	if b.untilCheck < 0 {
		b.untilCheck = checkEvery
		if b.interrupted != nil && b.stopped == nil {
			b.stopped = b.interrupted()
		}
	}
	if b.steps < 0 || b.stopped != nil {
		return limitError("Expression evaluation timeout: Check for infinite loop")
	}
	return nil
}

// spendText takes the steps for building n bytes of text.
func (b *budget) spendText(n int) *Error {
	if n > b.memory {
		return memoryError()
	}
	return b.spend(n / bytesPerStep)
}

// allocate returns an error if an array of n elements would exceed the memory limit.
func (b *budget) allocate(n int) *Error {
	if n > b.memory/bytesPerItem {
		return memoryError()
	}
	return nil
}

func memoryError() *Error {
	return limitError("Expression evaluation memory limit exceeded: Check for excessive memory usage")
}

// maxItems is the maximum length of an array that an expression creates. It equals the limit of the range operator.
const maxItems = 1e7

// spendItems takes the steps for building an array of n elements from other arrays.
func (b *budget) spendItems(n int) *Error {
	if err := b.allocate(n); err != nil {
		return err
	}
	if n > maxItems {
		return limitError("An array may have at most 10000000 elements")
	}
	return b.spend(n / 4)
}

// tick takes one step in a function that cannot return an error. It returns false if no step is left. The function
// must then return early; the next spend returns the error.
func (b *budget) tick() bool {
	b.steps--
	return b.steps >= 0
}

func (b *budget) nest(depth int) *Error {
	if depth > b.depth {
		return limitError("Stack overflow error: Check for non-terminating recursive function.  Consider rewriting as tail-recursive.")
	}
	return nil
}

// measure charges for the size of a result. Values may share parts, so a small expression can represent an immense
// tree.
func (b *budget) measure(v value, depth int) *Error {
	if depth > jsonvalue.MaxDepth {
		return b.nest(b.depth + 1)
	}
	if err := b.spend(1); err != nil {
		return err
	}
	switch v := v.(type) {
	case float64:
		b.infinite = b.infinite || math.IsInf(v, 0) || math.IsNaN(v)
	case *array:
		if v.source != nil {
			return nil
		}
		for _, e := range v.items {
			if err := b.measure(e, depth+1); err != nil {
				return err
			}
		}
	case *object:
		if v.source != nil {
			return nil
		}
		for _, e := range v.vals {
			if err := b.measure(e, depth+1); err != nil {
				return err
			}
		}
	}
	return nil
}
