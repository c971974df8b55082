package operate

import (
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"path/filepath"
	"strings"
	"time"

	"stepback/cmd/stepback/exit"
	"stepback/cmd/stepback/terminal"
	"stepback/cmd/stepback/workspace"
	"stepback/local"
	"stepback/local/services/documents"
	"stepback/local/services/sns"
)

// Inbox reads the mails of the embedded SNS.
type Inbox struct {
	List InboxList `cmd:"" default:"withargs" help:"List the mails, newest last."`
	Show InboxShow `cmd:"" help:"Print a mail."`
}

// Help shows examples.
func (Inbox) Help() string {
	return `Examples:
  stepback inbox
  stepback inbox --follow
  stepback inbox --to ops@example.com --json
  stepback inbox show 17

The inbox stores the mails that SNS would send to addresses (protocols email and email-json); stepback serve sends no mail.
AWS sends nothing to an address before it confirms its subscription; mails to unconfirmed addresses are marked.`
}

// InboxList implements the verb inbox list.
type InboxList struct {
	Data   string `type:"path" default:".stepback" placeholder:"DIR" help:"Data directory; it need not be served. Default .stepback."`
	Follow bool   `short:"f" help:"Keep printing new mails until Ctrl-C. Needs a process that serves the data directory."`
	JSON   bool   `name:"json" help:"Print one JSON object per mail and line, with its body."`
	Number int    `short:"n" default:"100" placeholder:"N" help:"Number of mails, the newest; 0 prints all. Default 100."`
	To     string `placeholder:"ADDRESS" help:"Only mails to this address."`
}

// Help has an example.
func (InboxList) Help() string { return "Example:\n  stepback inbox list --to ops@example.com -n 20" }

// Run lists the mails.
func (c *InboxList) Run(ctx context.Context, std terminal.Streams) error {
	if c.Number < 0 {
		return exit.With(exit.Usage, errors.New("-n is 0 or more"))
	}
	return workspace.OnDirectory(ctx, std, c.Data, c)
}

// On lists the mails in a directory that a running process has open.
func (c *InboxList) On(ctx context.Context, std terminal.Streams, p *local.Platform) error {
	return c.print(ctx, std, p.Topics.Inbox())
}

// Alone lists the mails in a directory that no process has open.
func (c *InboxList) Alone(ctx context.Context, std terminal.Streams) error {
	if c.Follow {
		return fmt.Errorf("no process serves %s, so no mail can arrive: start stepback serve --data %s",
			terminal.ShortPath(c.Data), terminal.Quoted(terminal.ShortPath(c.Data)))
	}
	return withInbox(c.Data, func(inbox *sns.Inbox) error { return c.print(ctx, std, inbox) })
}

// withInbox opens the inbox of a directory that no process has open.
func withInbox(dir string, read func(*sns.Inbox) error) (err error) {
	store, err := documents.Open(filepath.Join(dir, workspace.Documents), nil)
	if err != nil {
		return err
	}
	defer func() { err = errors.Join(err, store.Close()) }()
	inbox, err := sns.ReadInbox(store)
	if err != nil {
		return err
	}
	return read(inbox)
}

func (c *InboxList) print(ctx context.Context, std terminal.Streams, inbox *sns.Inbox) error {
	arrived := inbox.Next()
	mails, err := inbox.Latest(c.To, c.Number)
	if err != nil {
		return err
	}
	if len(mails) == 0 && !c.Follow && !c.JSON {
		_, err := fmt.Fprintln(std.Out, "no mails: subscribe an address to a topic (aws sns subscribe --protocol email …)")
		return err
	}
	last := uint64(0)
	for {
		for i := range mails {
			if err := c.line(std, &mails[i]); err != nil {
				return err
			}
			last = mails[i].Number
		}
		if !c.Follow {
			return nil
		}
		select {
		case <-arrived:
		case <-ctx.Done():
			return nil // Ctrl-C ends following
		}
		before := arrived
		if arrived = inbox.Next(); arrived == before { // the server ends
			return nil
		}
		if mails, err = inbox.After(last, c.To, 0); err != nil {
			return err
		}
	}
}

// line prints a mail on one line.
func (c *InboxList) line(std terminal.Streams, m *sns.Mail) error {
	if c.JSON {
		lines := json.NewEncoder(std.Out)
		lines.SetEscapeHTML(false)
		return lines.Encode(m)
	}
	_, err := fmt.Fprintf(std.Out, "%6d  %s  %s  %s%s\n", m.Number, m.Time.Format(time.DateTime), m.To,
		oneLine(m.Subject), unconfirmed(m))
	return err
}

// oneLine replaces line breaks and other white space in a text by single blanks.
func oneLine(text string) string { return strings.Join(strings.Fields(text), " ") }

// unconfirmed returns a note that AWS would not have sent this mail, or "" if it would have.
func unconfirmed(m *sns.Mail) string {
	if m.Confirmed || m.Type != "Notification" {
		return ""
	}
	return "  (not confirmed: AWS would not send it)"
}

// InboxShow implements the verb inbox show.
type InboxShow struct {
	Number uint64 `arg:"" help:"Number of the mail, from stepback inbox."`
	Data   string `type:"path" default:".stepback" placeholder:"DIR" help:"Data directory; it need not be served. Default .stepback."`
	JSON   bool   `name:"json" help:"Print the mail as JSON."`
}

// Help has an example.
func (InboxShow) Help() string { return "Example:\n  stepback inbox show 17" }

// Run prints the mail.
func (c *InboxShow) Run(ctx context.Context, std terminal.Streams) error {
	return workspace.OnDirectory(ctx, std, c.Data, c)
}

// On prints a mail in a directory that a running process has open.
func (c *InboxShow) On(_ context.Context, std terminal.Streams, p *local.Platform) error {
	return c.print(std, p.Topics.Inbox())
}

// Alone prints a mail in a directory that no process has open.
func (c *InboxShow) Alone(_ context.Context, std terminal.Streams) error {
	return withInbox(c.Data, func(inbox *sns.Inbox) error { return c.print(std, inbox) })
}

func (c *InboxShow) print(std terminal.Streams, inbox *sns.Inbox) error {
	m, found, err := inbox.Mail(c.Number)
	switch {
	case err != nil:
		return err
	case !found:
		return fmt.Errorf("there is no mail %d in %s; stepback inbox lists them", c.Number, terminal.ShortPath(c.Data))
	case c.JSON:
		text := json.NewEncoder(std.Out)
		text.SetEscapeHTML(false)
		text.SetIndent("", "  ")
		return text.Encode(m)
	}
	confirmed := ""
	if note := unconfirmed(&m); note != "" {
		confirmed = "Note:    " + strings.TrimSpace(note) + "\n"
	}
	_, err = fmt.Fprintf(std.Out, "Date:    %s\nFrom:    %s\nTo:      %s\nSubject: %s\nTopic:   %s\n%s\n%s\n",
		m.Time.Format(time.RFC1123), m.From, m.To, oneLine(m.Subject), m.TopicARN, confirmed,
		strings.TrimSuffix(m.Body, "\n"))
	return err
}
