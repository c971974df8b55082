package pipeline

import (
	"context"
	"strings"
	"time"

	"github.com/aws/aws-sdk-go-v2/service/sfn"

	"stepback/aws/objects"
	"stepback/csvimport/importrows"
	"stepback/csvimport/s3objects"
	"stepback/outbox/deadletters"
	"stepback/outbox/deadletters/mapitems"
	"stepback/outbox/deadletters/s3documents"
	"stepback/outbox/deadletters/startevents"
)

// recordPrefix is the prefix, in the bucket of results, of the record of actions taken on dead letters.
const recordPrefix = "dead-letters/"

// Letters returns the sources of dead letters in a data directory that a platform serves. These are rows of
// imports, events for which no import could be started, and failed Map items of all state machines. The Map items
// of the import's own state machine are left out, because their rows are already letters. The clients must use the
// platform's address. Map Runs of executions that ended before since are left out.
func Letters(store objects.Store, states *sfn.Client, since time.Time) deadletters.Rooms {
	return Rooms(RoomsConfig{Objects: store, States: states, Results: resultBucket, Machine: importMachine(),
		Since: since,
		Inbox: &startevents.Bucket{Store: store, Name: resultBucket}, AllMachines: true})
}

// importMachine returns the ARN of the import's state machine on a platform.
func importMachine() string {
	return "arn:aws:states:" + region + ":" + account + ":stateMachine:" + machineName
}

// RoomsConfig describes where the dead letters of a deployed import are.
type RoomsConfig struct {
	Objects     objects.Store
	States      *sfn.Client
	Results     string            // the bucket of results; without it there are no rows, and Record is required
	Record      string            // the bucket of the record; empty means Results
	Prefix      string            // prefix of the record; empty means dead-letters/
	Machine     string            // ARN of the import's state machine; without it there are no events
	Inbox       startevents.Inbox // nil means no events
	Machines    []string          // ARNs of other state machines, whose failed Map items are letters
	AllMachines bool              // all state machines except the import's
	Since       time.Time         // leaves out Map Runs of executions that ended before
	// Executions iterates over the executions with failed items; see mapitems.Items.
	Executions func(ctx context.Context, visit func(arn string) error) error
	Keep       deadletters.Documents // store of the record; nil means the bucket
}

// Documents returns the store of the record.
func (c *RoomsConfig) Documents() deadletters.Documents {
	if c.Keep != nil {
		return c.Keep
	}
	d := &s3documents.Documents{Store: c.Objects, Bucket: c.Record, Prefix: c.Prefix}
	if d.Bucket == "" {
		d.Bucket = c.Results
	}
	if d.Prefix == "" {
		d.Prefix = recordPrefix
	}
	return d
}

// Rooms returns the sources of dead letters.
func Rooms(c RoomsConfig) deadletters.Rooms {
	var rooms deadletters.Rooms
	if c.Results != "" {
		rows := &importrows.Rows{Objects: s3objects.New(c.Objects), Bucket: c.Results}
		if c.Machine != "" {
			rows.ARN = func(name string) string {
				return strings.Replace(c.Machine, ":stateMachine:", ":execution:", 1) + ":" + name
			}
			rows.Executions = importrows.StatesExecutions{Client: c.States, ARN: rows.ARN}
		}
		rooms = append(rooms, Part(rows, c.Documents()))
	}
	if c.Inbox != nil {
		rooms = append(rooms, Part(&startevents.Events{Inbox: c.Inbox, Client: c.States, Machine: c.Machine},
			c.Documents()))
	}
	if len(c.Machines) > 0 || c.AllMachines {
		rooms = append(rooms, Part(&mapitems.Items{Client: c.States, Machines: c.Machines, Except: []string{c.Machine},
			Since: c.Since, Executions: c.Executions}, c.Documents()))
	}
	return rooms
}

// Part returns a source as a part of Rooms.
func Part(s deadletters.Source, d deadletters.Documents) deadletters.Part {
	return deadletters.Part{Kind: s.Kind(), Owns: s.Owns, Room: &deadletters.SourceRoom{Source: s, Documents: d}}
}
