package journal_test

import (
	"testing"

	"stepback/engine/journal"
	"stepback/engine/journal/journaltest"
)

func TestMemory(t *testing.T) {
	t.Parallel()
	journaltest.Run(t, func(*testing.T) journal.Journal { return journal.NewMemory() })
}
