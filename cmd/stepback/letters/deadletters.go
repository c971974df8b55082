package letters

import (
	"errors"
	"time"

	"stepback/cmd/stepback/exit"
	"stepback/outbox/deadletters"
)

// DeadLetters implements the verb deadletters.
type DeadLetters struct {
	List    deadlettersListCmd    `cmd:"" help:"Show what could not be delivered, by reason and error."`
	Show    deadlettersShowCmd    `cmd:"" help:"Show a letter with its payload and its log."`
	Edit    deadlettersEditCmd    `cmd:"" help:"Store a corrected payload, to be sent instead of the letter's own."`
	Redrive deadlettersRedriveCmd `cmd:"" help:"Deliver letters again."`
	Discard deadlettersDiscardCmd `cmd:"" help:"Give up letters: they will not be delivered."`
	Log     deadlettersLogCmd     `cmd:"" help:"Show who redrove, edited or discarded letters, newest first."`
}

// letterFilter selects letters by the cause of their failure.
type letterFilter struct {
	Kind      string        `group:"Letters" enum:",outbox,row,item,event,queue" default:"" placeholder:"KIND" help:"Only of this kind: outbox, row, item, event or queue."`
	Reason    string        `group:"Letters" placeholder:"REASON" help:"Only of this reason, such as retries_exhausted."`
	Error     string        `group:"Letters" placeholder:"NAME" help:"Only of this error, such as TimeoutError."`
	Subject   string        `group:"Letters" placeholder:"SUBJECT" help:"Only of this subject: a topic, s3://bucket/key of a file, machine/map, a queue."`
	Execution string        `group:"Letters" placeholder:"NAME" help:"Only letters of this execution, by its name or ARN."`
	Key       string        `group:"Letters" placeholder:"KEY" help:"Only of this key."`
	Within    time.Duration `group:"Letters" placeholder:"TIME" help:"Only letters that were dead-lettered within this time, such as 2h."`
}

func (f *letterFilter) filter() deadletters.Filter {
	all := deadletters.Filter{Kind: deadletters.Kind(f.Kind), Reason: f.Reason, Error: f.Error, Subject: f.Subject,
		Key: f.Key, Execution: f.Execution}
	if f.Within > 0 {
		all.Since = time.Now().Add(-f.Within)
	}
	return all
}

// letterSelection selects the letters that an action applies to.
type letterSelection struct {
	IDs []string `arg:"" optional:"" name:"id" help:"IDs of letters."`
	letterFilter
	All bool `group:"Letters" help:"All letters that the filter matches; without a filter, all letters."`
}

func (s *letterSelection) selection() (deadletters.Selection, error) {
	f := s.filter()
	filtered := f != deadletters.Filter{}
	switch {
	case len(s.IDs) > 0 && (filtered || s.All):
		return deadletters.Selection{}, exit.With(exit.Usage, errors.New("name IDs or a filter, not both"))
	case len(s.IDs) > 0:
		return deadletters.Selection{IDs: s.IDs}, nil
	case !filtered && !s.All:
		return deadletters.Selection{}, exit.With(
			exit.Usage,
			errors.New("name the letters: IDs, a filter such as --reason, or --all"),
		)
	}
	return deadletters.Selection{Filter: &f}, nil
}
