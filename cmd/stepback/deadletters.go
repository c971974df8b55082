package main

import (
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"os"
	"os/user"
	"strings"
	"time"

	"stepback/deadletters"
	"stepback/outbox/database"
)

type deadlettersCmd struct {
	List    deadlettersListCmd    `cmd:"" help:"Show what could not be delivered, by reason and error."`
	Show    deadlettersShowCmd    `cmd:"" help:"Show a letter with its payload and all that was done to it."`
	Edit    deadlettersEditCmd    `cmd:"" help:"Keep another payload beside a letter's, to be sent instead."`
	Redrive deadlettersRedriveCmd `cmd:"" help:"Have letters delivered again."`
	Discard deadlettersDiscardCmd `cmd:"" help:"Decide that letters will not be delivered."`
	Log     deadlettersLogCmd     `cmd:"" help:"Show who did what to letters, the newest first."`
}

// letterRoom is where letters are and who looks after them.
type letterRoom struct {
	DB  string `required:"" name:"db" env:"DATABASE_URL" placeholder:"URL" help:"Database with the outbox: sqlite:/path/file.db or postgres://…"`
	Who string `name:"by" placeholder:"NAME" help:"Who you are, for the record. Default: your name on this machine."`
}

// enter opens the room for a person.
func (r *letterRoom) enter(ctx context.Context) (*deadletters.Operator, database.Outbox, error) {
	store, err := openOutbox(ctx, r.DB)
	if err != nil {
		return nil, nil, err
	}
	return &deadletters.Operator{Room: store, Who: r.name()}, store, nil
}

func (r *letterRoom) name() string {
	if r.Who != "" {
		return r.Who
	}
	name := os.Getenv("USER")
	if u, err := user.Current(); err == nil {
		name = u.Username
	}
	if host, err := os.Hostname(); err == nil {
		name += "@" + host
	}
	return name
}

// letterFilter chooses letters by what they died of.
type letterFilter struct {
	Reason  string        `group:"Letters" placeholder:"REASON" help:"Only of this reason, such as retries_exhausted."`
	Error   string        `group:"Letters" placeholder:"NAME" help:"Only of this error, such as TimeoutError."`
	Subject string        `group:"Letters" placeholder:"TOPIC" help:"Only of this topic."`
	Key     string        `group:"Letters" placeholder:"KEY" help:"Only of this key."`
	Within  time.Duration `group:"Letters" placeholder:"TIME" help:"Only what died within this time, such as 2h."`
}

func (f *letterFilter) filter() deadletters.Filter {
	all := deadletters.Filter{Reason: f.Reason, Error: f.Error, Subject: f.Subject, Key: f.Key}
	if f.Within > 0 {
		all.Since = time.Now().Add(-f.Within)
	}
	return all
}

// letterSelection chooses letters for an act.
type letterSelection struct {
	IDs []string `arg:"" optional:"" name:"id" help:"IDs of letters."`
	letterFilter
	All bool `group:"Letters" help:"All that the filter leaves, or all there are."`
}

func (s *letterSelection) selection() (deadletters.Selection, error) {
	f := s.filter()
	filtered := f != deadletters.Filter{}
	switch {
	case len(s.IDs) > 0 && (filtered || s.All):
		return deadletters.Selection{}, &exitError{exitUsage, errors.New("name IDs, or a filter, not both")}
	case len(s.IDs) > 0:
		return deadletters.Selection{IDs: s.IDs}, nil
	case !filtered && !s.All:
		return deadletters.Selection{}, &exitError{
			exitUsage,
			errors.New("say which letters: IDs, a filter such as --reason, or --all"),
		}
	}
	return deadletters.Selection{Filter: &f}, nil
}

type deadlettersListCmd struct {
	letterRoom
	letterFilter
	Letters bool `help:"List the letters themselves, the oldest first."`
	Limit   int  `default:"100" placeholder:"N" help:"How many letters. Default 100."`
	JSON    bool `name:"json" help:"Print JSON."`
}

// Help shows examples.
func (deadlettersListCmd) Help() string {
	return "Examples:\n  stepback deadletters list --db sqlite:app.db\n" +
		"  stepback deadletters list --db sqlite:app.db --letters --reason retries_exhausted --within 2h"
}

// Run prints groups, or letters.
func (c *deadlettersListCmd) Run(ctx context.Context, std streams) (err error) {
	o, store, err := c.enter(ctx)
	if err != nil {
		return err
	}
	defer func() { err = errors.Join(err, store.Close()) }()
	if c.Letters {
		return c.letters(ctx, o.Room, std)
	}
	groups, err := o.Room.Groups(ctx, c.filter())
	if err != nil {
		return err
	}
	if c.JSON {
		if groups == nil {
			groups = []deadletters.Group{}
		}
		return printJSON(std.out, groups)
	}
	if len(groups) == 0 {
		fmt.Fprintln(std.out, "no dead letters")
		return nil
	}
	t := newTable(">letters", "reason", "error", "subject", "from", "until", "one of them")
	for _, g := range groups {
		t.add(grouped(g.Count), g.Reason, g.Error, g.Subject, second(g.Oldest), second(g.Newest), g.Sample)
	}
	t.print(std.out, "")
	return nil
}

func (c *deadlettersListCmd) letters(ctx context.Context, room deadletters.Room, std streams) error {
	if c.Limit < 1 {
		return &exitError{exitUsage, errors.New("--limit must be 1 or more")}
	}
	page, err := room.List(ctx, deadletters.Query{Filter: c.filter(), Limit: c.Limit})
	if err != nil {
		return err
	}
	if c.JSON {
		all := make([]*deadletters.Letter, len(page.Letters))
		for i := range page.Letters {
			all[i] = &page.Letters[i]
		}
		return printJSON(std.out, all)
	}
	t := newTable("id", "reason", "error", "subject", ">attempts", "died", "cause")
	for i := range page.Letters {
		l := &page.Letters[i]
		t.add(l.ID, l.Reason, l.Error, l.Subject, l.Attempts, second(l.DeadAt), firstLine(l.Cause, 60))
	}
	t.print(std.out, "")
	if page.Next != "" {
		fmt.Fprintf(std.err, "there are more: --limit shows more than %d\n", c.Limit)
	}
	return nil
}

type deadlettersShowCmd struct {
	letterRoom
	ID   string `arg:"" help:"ID of a letter."`
	JSON bool   `name:"json" help:"Print JSON."`
}

// Help shows an example.
func (deadlettersShowCmd) Help() string {
	return "Example:\n  stepback deadletters show 0199e0f0-… --db sqlite:app.db"
}

// Run prints a letter.
func (c *deadlettersShowCmd) Run(ctx context.Context, std streams) (err error) {
	o, store, err := c.enter(ctx)
	if err != nil {
		return err
	}
	defer func() { err = errors.Join(err, store.Close()) }()
	l, err := o.Room.Show(ctx, c.ID)
	if err != nil {
		return fmt.Errorf("%s: %w", c.ID, err)
	}
	acts, err := o.Room.Acts(ctx, c.ID, 100)
	if err != nil {
		return err
	}
	if c.JSON {
		return printJSON(std.out, struct {
			Letter *deadletters.Letter `json:"letter"`
			Acts   []deadletters.Act   `json:"acts"`
		}{&l, append([]deadletters.Act{}, acts...)})
	}
	for _, row := range [][2]any{
		{"id", l.ID}, {"state", l.State}, {"subject", l.Subject}, {"key", l.Key}, {"reason", l.Reason},
		{"error", l.Error},
		{"attempts", l.Attempts}, {"redrives", l.Redrives}, {"execution", l.Execution}, {"traceparent", l.Trace},
		{"written", second(l.CreatedAt)}, {"last attempt", second(l.LastAttemptAt)},
		{"next attempt", second(l.NextAttemptAt)},
		{"died", second(l.DeadAt)}, {"content type", l.ContentType},
	} {
		if fmt.Sprint(row[1]) != "" {
			fmt.Fprintf(std.out, "%-14s%v\n", row[0], row[1])
		}
	}
	if l.Cause != "" {
		fmt.Fprintf(std.out, "\nlast error\n%s\n", l.Cause)
	}
	fmt.Fprintf(std.out, "\npayload\n%s\n", l.Payload)
	if l.Edited != nil {
		fmt.Fprintf(std.out, "\npayload that is sent instead\n%s\n", l.Edited)
	}
	if len(acts) > 0 {
		fmt.Fprintln(std.out)
		printActs(std.out, acts)
	}
	return nil
}

type deadlettersEditCmd struct {
	letterRoom
	ID      string `arg:"" help:"ID of a dead letter."`
	Payload string `required:"" placeholder:"FILE" help:"File with the payload to send instead; - reads it from the input."`
	Because string `placeholder:"TEXT" help:"Why, for the record."`
}

// Help shows an example.
func (deadlettersEditCmd) Help() string {
	return `The original stays beside the edit. Redrive the letter to have it sent.

Example:
  echo '{"order":1}' | stepback deadletters edit 0199e0f0-… --payload - --because "misspelled by release 7" --db sqlite:app.db`
}

// Run edits.
func (c *deadlettersEditCmd) Run(ctx context.Context, std streams) (err error) {
	payload, err := readPayload(c.Payload, std)
	if err != nil {
		return err
	}
	o, store, err := c.enter(ctx)
	if err != nil {
		return err
	}
	defer func() { err = errors.Join(err, store.Close()) }()
	if err := o.Edit(ctx, c.ID, payload, c.Because); errors.Is(err, deadletters.ErrNotFound) {
		return fmt.Errorf("%s: %w", c.ID, err)
	} else if err != nil {
		return usage(err)
	}
	fmt.Fprintf(std.out, "%s has another payload; redrive it to have it sent\n", c.ID)
	return nil
}

// readPayload reads no more than one payload can be.
func readPayload(path string, std streams) ([]byte, error) {
	in := std.in
	if path != "-" {
		f, err := os.Open(path)
		if err != nil {
			return nil, err
		}
		defer f.Close()
		in = f
	}
	if in == nil {
		return nil, errors.New("there is no input to read the payload from")
	}
	return io.ReadAll(io.LimitReader(in, deadletters.MaxPayload+1))
}

type deadlettersRedriveCmd struct {
	letterRoom
	letterSelection
	Rate    float64 `placeholder:"N" help:"Letters a second; 0 means as fast as it goes."`
	DryRun  bool    `help:"Only say which letters would be redriven."`
	Wait    bool    `help:"Wait until each is delivered or dead again; a relay has to run."`
	Because string  `placeholder:"TEXT" help:"Why, for the record."`
	JSON    bool    `name:"json" help:"Print one line of JSON per letter."`
}

// Help shows examples.
func (deadlettersRedriveCmd) Help() string {
	return `Letters go out under the IDs they had, so that a receiver knows repeats. Two people who redrive the same letters send them once.

Examples:
  stepback deadletters redrive 0199e0f0-… --db sqlite:app.db
  stepback deadletters redrive --error ServiceUnavailableError --rate 20 --wait --db sqlite:app.db
  stepback deadletters redrive --all --dry-run --db sqlite:app.db

Exit status: 3 if any letter was not redriven or, with --wait, died again.`
}

// Run redrives.
func (c *deadlettersRedriveCmd) Run(ctx context.Context, std streams) (err error) {
	chosen, err := c.selection()
	if err != nil {
		return err
	}
	o, store, err := c.enter(ctx)
	if err != nil {
		return err
	}
	defer func() { err = errors.Join(err, store.Close()) }()
	p := resultPrinter{std: std, json: c.JSON}
	var redriven []string
	pace := deadletters.Pace{Rate: c.Rate, DryRun: c.DryRun}
	if err := o.Redrive(ctx, chosen, pace, c.Because, func(r deadletters.Result) error {
		if r.Outcome == deadletters.Done {
			redriven = append(redriven, r.ID)
		}
		return p.print(r)
	}); err != nil {
		return usage(err)
	}
	if c.Wait {
		if err := o.Follow(ctx, redriven, 200*time.Millisecond, func(l deadletters.Letter) error {
			p.bad = p.bad || l.State != deadletters.Delivered
			_, err := fmt.Fprintf(std.out, "%s  %s  %s\n", l.ID, l.State, firstLine(l.Cause, 100))
			return err
		}); err != nil {
			return err
		}
	}
	return p.end()
}

type deadlettersDiscardCmd struct {
	letterRoom
	letterSelection
	Because string `required:"" placeholder:"TEXT" help:"Why, for the record."`
	DryRun  bool   `help:"Only say which letters would be discarded."`
	JSON    bool   `name:"json" help:"Print one line of JSON per letter."`
}

// Help shows an example.
func (deadlettersDiscardCmd) Help() string {
	return "Example:\n  stepback deadletters discard 0199e0f0-… --because \"a test message\" --db sqlite:app.db"
}

// Run discards.
func (c *deadlettersDiscardCmd) Run(ctx context.Context, std streams) (err error) {
	chosen, err := c.selection()
	if err != nil {
		return err
	}
	o, store, err := c.enter(ctx)
	if err != nil {
		return err
	}
	defer func() { err = errors.Join(err, store.Close()) }()
	p := resultPrinter{std: std, json: c.JSON}
	if err := o.Discard(ctx, chosen, c.DryRun, c.Because, p.print); err != nil {
		return usage(err)
	}
	return p.end()
}

type deadlettersLogCmd struct {
	letterRoom
	ID    string `arg:"" optional:"" help:"Only of this letter."`
	Limit int    `default:"100" placeholder:"N" help:"How many acts, the newest. Default 100."`
	JSON  bool   `name:"json" help:"Print JSON, with what was before and after."`
}

// Help shows an example.
func (deadlettersLogCmd) Help() string {
	return "Example:\n  stepback deadletters log --db sqlite:app.db"
}

// Run prints acts.
func (c *deadlettersLogCmd) Run(ctx context.Context, std streams) (err error) {
	o, store, err := c.enter(ctx)
	if err != nil {
		return err
	}
	defer func() { err = errors.Join(err, store.Close()) }()
	acts, err := o.Room.Acts(ctx, c.ID, max(c.Limit, 1))
	if err != nil {
		return err
	}
	if c.JSON {
		return printJSON(std.out, append([]deadletters.Act{}, acts...))
	}
	printActs(std.out, acts)
	return nil
}

func printActs(w io.Writer, acts []deadletters.Act) {
	t := newTable("when", "who", "act", "letter", "why")
	for _, a := range acts {
		t.add(second(a.At), a.Who, a.Verb, a.ID, a.Reason)
	}
	t.print(w, "")
}

// resultPrinter prints what came of each letter as it comes, and counts.
type resultPrinter struct {
	std    streams
	json   bool
	counts map[deadletters.Outcome]int
	bad    bool
}

func (p *resultPrinter) print(r deadletters.Result) error {
	if p.counts == nil {
		p.counts = map[deadletters.Outcome]int{}
	}
	p.counts[r.Outcome]++
	p.bad = p.bad || r.Outcome != deadletters.Done && r.Outcome != deadletters.WouldDo
	if p.json {
		return json.NewEncoder(p.std.out).Encode(r)
	}
	line := fmt.Sprintf("%s  %s", r.ID, r.Outcome)
	if r.Err != nil {
		line += "  " + r.Err.Error()
	}
	_, err := fmt.Fprintln(p.std.out, line)
	return err
}

func (p *resultPrinter) end() error {
	for _, o := range []deadletters.Outcome{
		deadletters.Done, deadletters.WouldDo, deadletters.NotDead, deadletters.NotFound, deadletters.Failed,
	} {
		if n := p.counts[o]; n > 0 {
			fmt.Fprintf(p.std.err, "%d %s\n", n, o)
		}
	}
	if len(p.counts) == 0 {
		fmt.Fprintln(p.std.err, "there are no such letters")
	}
	if p.bad {
		return &exitError{code: exitData}
	}
	return nil
}

// usage gives an act that was refused before anything was done the exit code of wrong usage.
func usage(err error) error {
	if bad, ok := errors.AsType[*deadletters.BadActError](err); ok {
		return &exitError{exitUsage, bad}
	}
	return err
}

// second writes a time for people; none for the zero time.
func second(t time.Time) string {
	if t.IsZero() {
		return ""
	}
	return t.UTC().Format("2006-01-02 15:04:05Z")
}

// firstLine shortens a text for a table.
func firstLine(text string, most int) string {
	line, rest, _ := strings.Cut(text, "\n")
	short := []rune(line)
	if len(short) > most {
		return string(short[:most]) + "…"
	}
	if rest != "" {
		return line + " …"
	}
	return line
}
