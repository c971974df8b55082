package history

// Failure is the failure of a task, a state or an execution. It has an error name, which retriers and catchers
// match, and a cause for the reader. Either may be absent, which differs from being empty. The zero Failure means
// no failure. *Failure implements error.
type Failure struct {
	Name, Cause string
	// EmptyName and EmptyCause are true if the name or the cause is present but empty.
	EmptyName, EmptyCause bool
}

// Error implements error.
func (f *Failure) Error() string {
	if f.Cause == "" || f.Name == "" {
		return f.Name + f.Cause
	}
	return f.Name + ": " + f.Cause
}

// ErrorName returns the name that retriers and catchers match.
func (f *Failure) ErrorName() string { return f.Name }

// HasName reports whether there is an error name.
func (f *Failure) HasName() bool { return f.Name != "" || f.EmptyName }

// HasCause reports whether there is a cause.
func (f *Failure) HasCause() bool { return f.Cause != "" || f.EmptyCause }

// IsZero reports whether there is neither an error name nor a cause, which means that there is no failure.
func (f Failure) IsZero() bool { return f == Failure{} }

// The maximum lengths of error names and causes in the API's model, in characters.
const (
	maxName  = 256
	maxCause = 32_768
)

// NewFailure returns a failure with an error name and a cause, truncated to the lengths that the API allows.
func NewFailure(name, cause string) Failure {
	f := Failure{}
	f.SetName(cut(name, maxName))
	f.SetCause(cut(cause, maxCause))
	return f
}

// Cut returns the failure with its texts truncated to the lengths that the API allows.
func (f Failure) Cut() Failure {
	f.Name, f.Cause = cut(f.Name, maxName), cut(f.Cause, maxCause)
	return f
}

// FailureOf returns a failure reported by a request. name and cause are nil if the request does not contain them.
func FailureOf(name, cause *string) Failure {
	f := Failure{}
	if name != nil {
		f.SetName(*name)
	}
	if cause != nil {
		f.SetCause(*cause)
	}
	return f
}

// Named returns a failure with an error name and no cause.
func Named(name string) Failure {
	f := Failure{}
	f.SetName(name)
	return f
}

// SetName sets the error name, which may be empty.
func (f *Failure) SetName(name string) { f.Name, f.EmptyName = name, name == "" }

// SetCause sets the cause, which may be empty.
func (f *Failure) SetCause(cause string) { f.Cause, f.EmptyCause = cause, cause == "" }

// cut returns at most the first n characters of a text.
func cut(s string, n int) string {
	if len(s) <= n {
		return s
	}
	for i := range s {
		if n == 0 {
			return s[:i]
		}
		n--
	}
	return s
}
