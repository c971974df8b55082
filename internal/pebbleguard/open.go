package pebbleguard

import (
	"time"

	"github.com/cockroachdb/pebble/v2"
)

// retryInterval is the time between two attempts of Pebble's background work that the disk has refused.
const retryInterval = 50 * time.Millisecond

// Open opens Pebble's store in a directory, with the options' EventListener replaced. The Logger must be a Log. On
// opening, Pebble writes the content of its log into tables, and if the disk refuses that, it retries for ever. Open
// gives up in that case; if Pebble finishes later, the store is closed.
func Open(dir string, o *pebble.Options) (*pebble.DB, error) {
	type outcome struct {
		db  *pebble.DB
		err error
	}
	refused, opened := make(chan error, 1), make(chan outcome, 1)
	refuse := func(err error) {
		select {
		case refused <- err:
		default:
		}
	}
	log, _ := o.Logger.(Log)
	o.Logger = log
	if log.Fatal != nil {
		o.Logger = Log{Fatal: func(err error) { refuse(err); log.Fatal(err) }}
	}
	o.EventListener = &pebble.EventListener{
		BackgroundError: func(err error) {
			refuse(err)
			<-time.NewTimer(retryInterval).C // otherwise Pebble would retry at once
		},
		DataCorruption: func(pebble.DataCorruptionInfo) {}, // reads return the error; by default the process would exit
	}
	go func() {
		var s outcome
		s.err = Call(func() (err error) {
			s.db, err = pebble.Open(dir, o)
			return err
		})
		opened <- s
	}()
	select {
	case s := <-opened:
		return s.db, s.err
	case err := <-refused:
		go func() {
			if s := <-opened; s.err == nil {
				_ = s.db.Close() // it has not been used
			}
		}()
		return nil, err
	}
}
