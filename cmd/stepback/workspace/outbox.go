package workspace

import (
	"context"
	"errors"
	"os"
	"os/user"

	"stepback/cmd/stepback/exit"
	"stepback/outbox/database"
)

// OpenOutbox opens an outbox; an invalid address is a usage error.
func OpenOutbox(ctx context.Context, address string) (database.Outbox, error) {
	store, err := database.Open(ctx, address)
	if errors.Is(err, database.ErrAddress) {
		return nil, exit.With(exit.Usage, err)
	}
	return store, err
}

// Operator returns the name of the user on this machine, for records of who did what: user@host.
func Operator() string {
	name := os.Getenv("USER")
	if u, err := user.Current(); err == nil {
		name = u.Username
	}
	if host, err := os.Hostname(); err == nil {
		name += "@" + host
	}
	return name
}
