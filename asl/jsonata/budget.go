package jsonata

import "stepback/asl/jsonvalue"

// budget is what is left of the work that an evaluation may do.
type budget struct {
	steps, depth int
	// untilCheck counts down to the next question whether the evaluation was interrupted.
	untilCheck  int
	interrupted func() error
	stopped     error
}

const (
	checkEvery   = 4096
	bytesPerStep = 64
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

// spendText takes the steps for making n bytes of text.
func (b *budget) spendText(n int) *Error { return b.spend(n / bytesPerStep) }

func (b *budget) nest(depth int) *Error {
	if depth > b.depth {
		return limitError("Stack overflow error: Check for non-terminating recursive function.  Consider rewriting as tail-recursive.")
	}
	return nil
}

// measure charges for a result: values may share parts, so that a small expression can stand for an immense tree.
func (b *budget) measure(v value, depth int) *Error {
	if depth > jsonvalue.MaxDepth {
		return b.nest(b.depth + 1)
	}
	if err := b.spend(1); err != nil {
		return err
	}
	switch v := v.(type) {
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
