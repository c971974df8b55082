package retry

// Class classifies an error by what happens if the failed operation is repeated.
type Class string

// The classes.
const (
	// Transient: the operation did not take effect; repeating it unchanged may succeed.
	Transient Class = "transient"
	// UnknownOutcome: the operation may have taken effect; repeat it only if it is idempotent.
	UnknownOutcome Class = "unknown outcome"
	// Conflict: the operation conflicted with a concurrent one; repeat the whole read-modify-write, not only the last
	// step.
	Conflict Class = "conflict"
	// Permanent: the operation will fail again if repeated.
	Permanent Class = "permanent"
)

// Classification is the result of recognising an error.
type Classification struct {
	// Error is the name of the error: one of this package's constants, or a name of the caller's own.
	Error string
	// Class says what happens if the operation is repeated.
	Class Class
	// Identity is the property by which the error was recognised, such as "SQLSTATE 40P01".
	Identity string
}

// Retriable reports whether the operation may be repeated unchanged. A conflict may not, because its caller must
// start again from the read.
func (c Classification) Retriable(idempotent bool) bool {
	return c.Class == Transient || c.Class == UnknownOutcome && idempotent
}

// String returns text such as "DeadlockException (conflict, by SQLSTATE 40P01)".
func (c Classification) String() string {
	return c.Error + " (" + string(c.Class) + ", by " + c.Identity + ")"
}

// verdict is an error name and a class, which every classification table assigns.
type verdict struct {
	name  string
	class Class
}

func (v verdict) of(identity string) (Classification, bool) {
	return Classification{Error: v.name, Class: v.class, Identity: identity}, true
}
