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
	// exceeded is the error of a limit that a function without an error result exceeded. The next spend returns it.
	exceeded *Error
}

const (
	checkEvery   = 4096
	bytesPerStep = 16
	bytesPerItem = 8
	// bytesReadPerStep and itemsReadPerStep are what one step pays for that is read and not built.
	bytesReadPerStep = 256
	itemsReadPerStep = 32
	// itemsBuiltPerStep is the number of elements copied to an array for one step.
	itemsBuiltPerStep = 4
	// stepsPerMatch pays for the object that represents a match of a regular expression.
	stepsPerMatch = 16
)

func limitError(message string) *Error { return &Error{Code: "U1001", Message: message} }

// spend takes n steps.
func (b *budget) spend(n int) *Error {
	b.take(n)
	if b.exceeded != nil {
		return b.exceeded
	}
	if b.steps < 0 || b.stopped != nil {
		return limitError("Expression evaluation timeout: Check for infinite loop")
	}
	return nil
}

// take takes n steps and asks from time to time whether the evaluation is interrupted.
func (b *budget) take(n int) {
	b.steps -= n
	b.untilCheck -= n
	if b.untilCheck < 0 {
		b.untilCheck = checkEvery
		if b.interrupted != nil && b.stopped == nil {
			b.stopped = b.interrupted()
		}
	}
}

// spendText takes the steps for building n bytes of text.
func (b *budget) spendText(n int) *Error {
	if n > b.memory {
		return memoryError()
	}
	return b.spend(n / bytesPerStep)
}

// read takes the steps for reading the arguments of a built-in function. A function that builds something takes the
// steps for its result itself.
func (b *budget) read(args []value) *Error {
	n := 1
	for _, arg := range args {
		switch arg := arg.(type) {
		case string:
			n += len(arg) / bytesReadPerStep
		case *array:
			n += arg.len() / itemsReadPerStep
		}
	}
	return b.spend(n)
}

// growText takes the steps for appending n bytes to a text that has size bytes so far.
func (b *budget) growText(size, n int) *Error {
	if n > b.memory-size {
		return memoryError()
	}
	return b.spend(n / bytesPerStep)
}

// widest is the most text that a byte of a date's picture produces: [Y,9-1000] writes 1,000 digits.
const widest = 100

// spendPicture takes the steps for interpreting a picture of length bytes. Some rules of pictures compare each
// character with each other.
func (b *budget) spendPicture(length int) *Error {
	return b.spend(length * (length + widest) / bytesPerStep)
}

// extend appends v to a list as $append does: an array with its elements, any other value as one element. It takes
// the steps first, so that the list never exceeds the limits.
func (b *budget) extend(list []value, v value) ([]value, *Error) {
	more, ok := v.(*array)
	if !ok {
		return append(list, v), nil
	}
	n := more.len()
	if err := b.allowItems(len(list) + n); err != nil {
		return list, err
	}
	if err := b.spend(n / itemsBuiltPerStep); err != nil {
		return list, err
	}
	return append(list, more.list()...), nil
}

// extendQuietly is extend for functions that cannot return an error. If the limits are exceeded, it returns the list
// as it is and false, and the next spend returns the error.
func (b *budget) extendQuietly(list []value, v value) ([]value, bool) {
	list, err := b.extend(list, v)
	if err != nil {
		b.exceeded = err
	}
	return list, err == nil
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
	if err := b.allowItems(n); err != nil {
		return err
	}
	return b.spend(n / itemsBuiltPerStep)
}

// allowItems returns an error if an array of n elements would exceed the limits.
func (b *budget) allowItems(n int) *Error {
	if err := b.allocate(n); err != nil {
		return err
	}
	if n > maxItems {
		return limitError("An array may have at most 10000000 elements")
	}
	return nil
}

// tick takes one step in a function that cannot return an error. It returns false if no step is left or
// the evaluation is interrupted. The function must then return early; the next spend returns the error.
func (b *budget) tick() bool {
	return b.ticks(1)
}

// ticks takes n steps like tick.
func (b *budget) ticks(n int) bool {
	b.take(n)
	return b.steps >= 0 && b.exceeded == nil && b.stopped == nil
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
