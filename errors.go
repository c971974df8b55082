package stepback

import (
	"errors"
	"fmt"
	"reflect"
)

// Errorf returns an error with a name, for which a Retry or a Catch can be written. The message is formatted as by
// fmt.Errorf, so %w wraps an error for errors.Is and errors.As.
//
//	return stepback.Errorf("CardServiceBusy", "charging order %s: %w", o.ID, err)
//
// matches "ErrorEquals": ["CardServiceBusy"].
func Errorf(name, format string, args ...any) error {
	return &namedError{name, fmt.Errorf(format, args...)}
}

type namedError struct {
	name string
	err  error
}

func (e *namedError) Error() string     { return e.err.Error() }
func (e *namedError) Unwrap() error     { return e.err }
func (e *namedError) ErrorName() string { return e.name }

// ErrorName returns the name by which retriers and catchers see an error of a function, unless Config.ErrorName decides
// otherwise. It is
//
//  1. the name of the outermost error in the tree that has one: a *Failure, an error of Errorf, or an error of the
//     program's own with a method ErrorName() string;
//  2. the name of the error's type, as Lambda's runtime for Go has it: errorString for errors.New, wrapError for
//     fmt.Errorf with %w, NotFound for a *NotFound.
//
// Do not write a Retry for a name of rule 2: it changes when the code wraps the error. The rule exists because AWS
// gives the same function's error this name.
//
// The name of a nil error is empty.
func ErrorName(err error) string {
	if err == nil {
		return ""
	}
	var named interface{ ErrorName() string }
	if errors.As(err, &named) {
		return named.ErrorName()
	}
	t := reflect.TypeOf(err)
	if t.Kind() == reflect.Pointer {
		t = t.Elem()
	}
	return t.Name()
}
