package outbox

import (
	"context"
	"time"
)

// Store is the relay's view of the table. The store provides the clock: all times are those of the database server,
// or of the one machine that holds an SQLite file. The relay specifies only durations. The methods may be called
// from several goroutines.
type Store interface {
	// Claim claims due messages for the time of a lease. It returns none if none is due.
	Claim(ctx context.Context, c Claim) (Claimed, error)
	// Settle records the outcomes of deliveries, all in one transaction. It skips an outcome if the message no longer
	// has its lease, since another relay holds the message. It returns the number of outcomes recorded. Repeating a
	// Settle has no effect.
	Settle(ctx context.Context, all []Settlement) (int, error)
	// Extend makes the leases of held messages end after d from now.
	Extend(ctx context.Context, held []Held, d time.Duration) error
	// Abandon ends the leases of all messages that the claims of a relay hold: those whose Lease starts with the
	// relay's name and '#'. Such messages are due at once, and the lease counts as expired. It returns their number.
	Abandon(ctx context.Context, relay string) (int, error)
	// Release returns the messages that one claim holds, as if it had not claimed them: they are due at once, and no
	// lease counts as expired. A relay calls it for a claim whose response it did not receive. If the database carries
	// out the claim after that, its messages wait for the end of the lease. It returns their number.
	Release(ctx context.Context, lease string) (int, error)
	// NextDue returns the time until the next message becomes due, apart from messages that are due already. ok is
	// false if there is none.
	NextDue(ctx context.Context) (d time.Duration, ok bool, err error)
	// Listen calls wake whenever there may be something to claim, until the context ends or the connection is lost.
	// It also calls it once when it starts to listen.
	Listen(ctx context.Context, wake func()) error
	// Tidy deletes messages whose retention has ended, and shortens waits that a changed clock has prolonged.
	Tidy(ctx context.Context, t Tidy) (Tidied, error)
	// Stats counts messages by status.
	Stats(ctx context.Context) (Stats, error)
}

// Claim specifies which messages a relay claims.
type Claim struct {
	Lease  string        // identifies this claim, different for each Claim; 1 to 255 bytes
	For    time.Duration // duration of the lease
	Limit  int           // maximum number of messages, 1 or more
	PerKey int           // maximum number of messages with one key, 1 or more
	Bytes  int           // take no more once this many bytes of payload are reached, 1 or more
}

// Claimed is the result of a Claim.
type Claimed struct {
	// Messages is in the order in which the messages were written, except that messages with the same key are
	// together.
	Messages []*Delivery
	// More is true if another Claim may find more at once.
	More bool
}

// Delivery is a message that a relay holds for the time of its lease.
type Delivery struct {
	Message  // its Payload is the one to send, as edited by a person
	Seq      int64
	Lease    string
	Retries  int           // failed attempts since it was written or redriven
	Expiries int           // leases that expired without an outcome
	Waited   time.Duration // since it was written
}

// Held identifies a message that a relay holds.
type Held struct {
	Seq   int64
	Lease string
}

// Settlement is the outcome of a delivery.
type Settlement struct {
	Held
	Key    string
	Status Status        // Sent, Failed or Dead; Pending for one that was not attempted
	After  time.Duration // until the next attempt, if Failed
	Error  string        // the error's name, if Failed or Dead
	Cause  string        // the error's text, if Failed or Dead
	Reason string        // if Dead
}

// Tidy specifies what to clean up.
type Tidy struct {
	// Retention is the time that sent and discarded messages are kept; negative means for ever.
	Retention time.Duration
	// Longest is the longest lease or wait that a relay sets; a longer one was set while the clock was different, and
	// ends now. 0 means not to check.
	Longest time.Duration
	// Limit is the maximum number of messages to delete, 1 or more.
	Limit int
}

// Tidied reports what a Tidy did.
type Tidied struct {
	Deleted int // messages whose retention had ended
	Mended  int // messages that would have waited too long
}

// CountLimit is the number at which Stats stops counting, to stay quick.
const CountLimit = 100_000

// Stats holds the number of messages by status, each at most CountLimit.
type Stats struct {
	Pending, Processing, Failed, Dead int
	// Oldest is the age of the oldest message that is neither sent nor dead nor discarded; 0 if there is none.
	Oldest time.Duration
}

// Add adds n messages with one status; oldest is the age of the oldest of them.
func (s *Stats) Add(status Status, n int, oldest time.Duration) {
	n = min(n, CountLimit)
	switch status {
	case Pending:
		s.Pending += n
	case Processing:
		s.Processing += n
	case Failed:
		s.Failed += n
	case Dead:
		s.Dead += n
		return
	default:
		return
	}
	s.Oldest = max(s.Oldest, oldest)
}
