package outbox

import (
	"context"
	"time"
)

// Store is the table as a relay sees it. The store has the clock: all times are those of the database, or of the one
// machine that an SQLite file is on, and the relay speaks of durations. Its methods may be called from several
// goroutines.
type Store interface {
	// Claim takes messages that are due, for the time of a lease. It returns none where none is due.
	Claim(ctx context.Context, c Claim) (Claimed, error)
	// Settle records what came of deliveries, all in one transaction. One whose lease is no longer the message's
	// is left out: another relay has the message. It returns how many were not left out. Repeating a Settle does
	// nothing.
	Settle(ctx context.Context, all []Settlement) (int, error)
	// Extend lets leases end after d from now.
	Extend(ctx context.Context, held []Held, d time.Duration) error
	// NextDue is how long it is until a message is due that is not due yet; ok is false where there is none.
	NextDue(ctx context.Context) (d time.Duration, ok bool, err error)
	// Listen calls wake whenever there may be something to claim, until the context ends or the connection is lost. It
	// calls it once when it begins to listen.
	Listen(ctx context.Context, wake func()) error
	// Tidy deletes what has been kept for long enough, and repairs what clocks that were set have put off.
	Tidy(ctx context.Context, t Tidy) (Tidied, error)
	// Stats counts.
	Stats(ctx context.Context) (Stats, error)
}

// Claim says what a relay can take.
type Claim struct {
	Lease  string        // who takes it, different for each Claim; 1 to 255 bytes
	For    time.Duration // how long the lease is
	Limit  int           // the most messages, 1 or more
	PerKey int           // the most messages of one key, 1 or more
	Bytes  int           // take no more once this many bytes of payload are reached, 1 or more
}

// Claimed is what a relay got.
type Claimed struct {
	// Messages are in the order in which they were written, those of one key together.
	Messages []*Delivery
	// More reports that another Claim may find more at once.
	More bool
}

// Delivery is a message that a relay has for the time of its lease.
type Delivery struct {
	Message  // its Payload is the one to send, edited where a person edited it
	Seq      int64
	Lease    string
	Retries  int           // attempts that failed, since it was written or redriven
	Expiries int           // leases that ended without any news
	Waited   time.Duration // since it was written
}

// Held is a message that a relay has.
type Held struct {
	Seq   int64
	Lease string
}

// Settlement is what came of a delivery.
type Settlement struct {
	Held
	Key    string
	Status Status        // Sent, Failed or Dead; Pending for one that was not attempted
	After  time.Duration // until the next attempt, where it Failed
	Error  string        // the error's name, where it Failed or is Dead
	Cause  string        // the error's text, where it Failed or is Dead
	Reason string        // where it is Dead
}

// Tidy says what to delete.
type Tidy struct {
	// Retention is how long sent and discarded messages are kept; negative means for ever.
	Retention time.Duration
	// Longest is the longest lease or wait that a relay gives; one that is longer was made under another time of the
	// clock, and ends now. 0 means not to look for such.
	Longest time.Duration
	// Limit is how many messages to delete at most, 1 or more.
	Limit int
}

// Tidied is what a Tidy did.
type Tidied struct {
	Deleted int // messages that were kept long enough
	Mended  int // messages that would have waited for too long
}

// CountLimit is where Stats stops counting, so that it stays quick.
const CountLimit = 100_000

// Stats are numbers of messages, none above CountLimit.
type Stats struct {
	Pending, Processing, Failed, Dead int
	// Oldest is how long the oldest message that is neither sent nor dead nor discarded has been there; 0 where
	// there is none.
	Oldest time.Duration
}

// Add counts n messages of one status, the oldest of which was written so long ago.
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
