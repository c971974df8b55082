package retry

// Class says what repeating a failed operation can do.
type Class string

// The classes.
const (
	// Transient: the operation did not happen; repeating it as it is may succeed.
	Transient Class = "transient"
	// UnknownOutcome: it may have happened; repeat it only if it is idempotent.
	UnknownOutcome Class = "unknown outcome"
	// Conflict: it lost against a concurrent one; repeat the whole read-modify-write, not the last step alone.
	Conflict Class = "conflict"
	// Permanent: repeating it will fail again.
	Permanent Class = "permanent"
)

// Classification is what an error was recognised as.
type Classification struct {
	// Error is the named error that stands for it: one of this package's constants, or a name of the caller's own.
	Error string
	// Class says what repeating can do.
	Class Class
	// Identity is what it was recognised by, such as "SQLSTATE 40P01".
	Identity string
}

// Retriable reports whether the very same operation may be repeated. A conflict may not: its caller has to start over
// from the read.
func (c Classification) Retriable(idempotent bool) bool {
	return c.Class == Transient || c.Class == UnknownOutcome && idempotent
}

// String reads like "DeadlockException (conflict, by SQLSTATE 40P01)".
func (c Classification) String() string {
	return c.Error + " (" + string(c.Class) + ", by " + c.Identity + ")"
}

// verdict is the right-hand side of every classification table.
type verdict struct {
	name  string
	class Class
}

func (v verdict) of(identity string) (Classification, bool) {
	return Classification{Error: v.name, Class: v.class, Identity: identity}, true
}
