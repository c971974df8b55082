package sns

import (
	"cmp"
	"encoding/json"
	"net/http"
	"slices"
	"strconv"
	"strings"
	"sync"
	"time"

	"stepback/local/services/documents"
)

// maxMails is the number of mails that the inbox keeps; older ones are deleted.
const maxMails = 10_000

// Mail is a mail or a text message in the local inbox. On AWS, SNS would have sent it to an address or a phone number.
type Mail struct {
	Number  uint64    `json:"number"` // increases with time
	Time    time.Time `json:"time"`
	From    string    `json:"from"`
	To      string    `json:"to"`
	Subject string    `json:"subject"`
	Body    string    `json:"body"`
	// Type is Notification, or SubscriptionConfirmation for the mail that asks for a confirmation.
	Type         string `json:"type"`
	MessageID    string `json:"messageId"`
	TopicARN     string `json:"topicArn"`
	Subscription string `json:"subscriptionArn"`
	// Confirmed reports whether the address has confirmed its subscription. AWS sends no notifications before that.
	Confirmed bool `json:"confirmed"`
}

// Inbox holds the mails that SNS would have sent. It is safe for concurrent use.
type Inbox struct {
	table *documents.Table

	mu      sync.Mutex
	numbers []uint64
	arrived chan struct{} // closed when a mail arrives
	ended   bool          // nothing may wait any more
}

// ReadInbox opens the inbox of a store that no Service is using. The error is the store's.
func ReadInbox(store *documents.Store) (*Inbox, error) {
	i := &Inbox{arrived: make(chan struct{})}
	return i, i.load(store.Table(tableName))
}

// Inbox returns the service's inbox.
func (s *Service) Inbox() *Inbox { return &s.inbox }

// load loads the numbers of the mails.
func (i *Inbox) load(table *documents.Table) error {
	i.table = table
	return table.Scan(keyMail, func(key string, _ []byte) error {
		n, err := strconv.ParseUint(strings.TrimPrefix(key, keyMail), 10, 64)
		i.numbers = append(i.numbers, n)
		return err
	})
}

// add records a new mail. If the inbox is full, full is true and gone is the number of the mail to delete.
func (i *Inbox) add(n uint64) (gone uint64, full bool) {
	i.mu.Lock()
	defer i.mu.Unlock()
	i.numbers = append(i.numbers, n)
	if len(i.numbers) <= maxMails {
		return 0, false
	}
	gone = i.numbers[0]
	i.numbers = i.numbers[1:]
	return gone, true
}

// tell wakes all waiting callers.
func (i *Inbox) tell() {
	i.mu.Lock()
	defer i.mu.Unlock()
	if !i.ended {
		close(i.arrived)
		i.arrived = make(chan struct{})
	}
}

// Next returns a channel that is closed when the next mail arrives, or once StopPolls has been called.
func (i *Inbox) Next() <-chan struct{} {
	i.mu.Lock()
	defer i.mu.Unlock()
	return i.arrived
}

// StopPolls makes all present and future requests that wait for mails return immediately, with the mails that have
// arrived.
func (s *Service) StopPolls() {
	s.inbox.mu.Lock()
	defer s.inbox.mu.Unlock()
	if !s.inbox.ended {
		s.inbox.ended = true
		close(s.inbox.arrived)
	}
}

// mail writes a message to the inbox.
func (s *Service) mail(b *documents.Batch, m *message, sub *subscription, display string) error {
	s.mu.Lock()
	n := s.number(b)
	s.mu.Unlock()
	return s.mailNumbered(b, m, sub, display, n)
}

func (s *Service) mailNumbered(b *documents.Batch, m *message, sub *subscription, display string, n uint64) error {
	made := Mail{
		Number: n, Time: m.Time.UTC(), From: cmp.Or(display, "AWS Notifications") + " <no-reply@sns.amazonaws.com>",
		To: sub.Endpoint, Subject: cmp.Or(m.Subject, "AWS Notification Message"), Type: m.Type, MessageID: m.ID,
		TopicARN: m.Topic, Subscription: sub.ARN, Confirmed: !sub.Pending,
	}
	if m.Type == typeConfirmation {
		made.Subject = "AWS Notification - Subscription Confirmation"
	}
	switch {
	case sub.Protocol == protocolSMS: // AWS puts the topic's display name before the text
		made.From, made.Subject, made.Body = cmp.Or(display, "NOTICE"), "", m.body(sub.Protocol)
		if display != "" {
			made.Body = display + "> " + made.Body
		}
	case sub.Protocol == protocolEmailJSON:
		text, err := s.envelope(m, sub)
		if err != nil {
			return err
		}
		made.Body = text
	case m.Type == typeConfirmation:
		made.Body = "You have chosen to subscribe to the topic:\n" + m.Topic + "\n\nTo confirm this subscription, visit " +
			"the link below (If this was in error no action is necessary):\n" + s.confirmURL(m) + "\n"
	default:
		made.Body = m.body(sub.Protocol) + "\n\n--\nIf you wish to stop receiving notifications from this topic, please " +
			"visit the link below to unsubscribe:\n" + s.unsubscribeURL(sub) + "&Endpoint=" + sub.Endpoint + "\n"
	}
	if gone, full := s.inbox.add(n); full {
		b.Delete(s.table, numbered(keyMail, gone))
	}
	return s.put(b, numbered(keyMail, n), made)
}

// After returns at most limit mails with numbers above after, oldest first. If address is not empty, only mails to it
// are returned. The error is the store's.
func (i *Inbox) After(after uint64, address string, limit int) ([]Mail, error) {
	mails := []Mail{}
	err := i.table.ScanFrom(keyMail, numbered(keyMail, after+1), func(_ string, text []byte) error {
		var m Mail
		if err := json.Unmarshal(text, &m); err != nil {
			return err
		}
		if address != "" && !strings.EqualFold(m.To, address) {
			return nil
		}
		if mails = append(mails, m); len(mails) == limit {
			return errEnough
		}
		return nil
	})
	if err == errEnough { //nolint:errorlint // it is not wrapped
		err = nil
	}
	return mails, err
}

// Latest returns the last mails, selected and ordered as in After; a limit of 0 means all.
func (i *Inbox) Latest(address string, limit int) ([]Mail, error) {
	i.mu.Lock()
	numbers := slices.Clone(i.numbers)
	i.mu.Unlock()
	mails := []Mail{}
	for _, n := range slices.Backward(numbers) {
		m, found, err := i.Mail(n)
		if err != nil {
			return nil, err
		}
		if !found || address != "" && !strings.EqualFold(m.To, address) {
			continue
		}
		if mails = append(mails, m); len(mails) == limit {
			break
		}
	}
	slices.Reverse(mails)
	return mails, nil
}

// Mail returns the mail with a number.
func (i *Inbox) Mail(number uint64) (m Mail, found bool, err error) {
	text, found, err := i.table.Get(numbered(keyMail, number))
	if err == nil && found {
		err = json.Unmarshal(text, &m)
	}
	return m, found, err
}

type endOfScan struct{}

func (endOfScan) Error() string { return "enough" }

// errEnough stops a scan.
var errEnough = error(endOfScan{})

const (
	mostMailsAsked = 1000
	longestWait    = 20 // in seconds
)

// InboxPath is the path at which Handler serves the inbox to programs on this machine. GET InboxPath returns
// {"mails": […]} with the latest mails. after=NUMBER selects the mails after that number; if there are none,
// wait=SECONDS (up to 20) makes the request wait. limit=N (1 to 1000, default 100) sets the maximum number.
// to=ADDRESS selects the mails to an address. GET InboxPath/NUMBER returns a single mail.
const InboxPath = "/_stepback/inbox"

func isInbox(r *http.Request) bool {
	return r.URL.Path == InboxPath || strings.HasPrefix(r.URL.Path, InboxPath+"/")
}

func (s *Service) serveInbox(w http.ResponseWriter, r *http.Request) {
	if r.Method != http.MethodGet {
		http.Error(w, "only GET is served here", http.StatusMethodNotAllowed)
		return
	}
	w.Header().Set("Content-Type", "application/json")
	if name := strings.Trim(strings.TrimPrefix(r.URL.Path, InboxPath), "/"); name != "" {
		s.serveMail(w, r, name)
		return
	}
	s.serveMails(w, r)
}

func (s *Service) serveMail(w http.ResponseWriter, r *http.Request, name string) {
	n, err := strconv.ParseUint(name, 10, 64)
	if err != nil {
		http.NotFound(w, r)
		return
	}
	m, found, err := s.inbox.Mail(n)
	switch {
	case err != nil:
		http.Error(w, err.Error(), http.StatusInternalServerError)
	case !found:
		http.NotFound(w, r)
	default:
		_ = json.NewEncoder(w).Encode(m) // the client may have disconnected
	}
}

func (s *Service) serveMails(w http.ResponseWriter, r *http.Request) {
	query := r.URL.Query()
	bounded := func(name string, otherwise, most int) int {
		n, err := strconv.Atoi(query.Get(name))
		if err != nil || n < 0 {
			return otherwise
		}
		return min(n, most)
	}
	limit := max(1, bounded("limit", 100, mostMailsAsked))
	if !query.Has("after") {
		s.answerMails(w, func() ([]Mail, error) { return s.inbox.Latest(query.Get("to"), limit) })
		return
	}
	after, err := strconv.ParseUint(query.Get("after"), 10, 64)
	if err != nil {
		http.Error(w, "after is the number of a mail", http.StatusBadRequest)
		return
	}
	patience := time.NewTimer(time.Duration(bounded("wait", 0, longestWait)) * time.Second)
	defer patience.Stop()
	for waited := false; ; {
		arrived := s.inbox.Next()
		mails, err := s.inbox.After(after, query.Get("to"), limit)
		s.inbox.mu.Lock()
		ended := s.inbox.ended
		s.inbox.mu.Unlock()
		if err != nil || len(mails) > 0 || waited || ended {
			s.answerMails(w, func() ([]Mail, error) { return mails, err })
			return
		}
		select {
		case <-arrived:
		case <-patience.C:
			waited = true
		case <-r.Context().Done():
			waited = true
		}
	}
}

func (s *Service) answerMails(w http.ResponseWriter, read func() ([]Mail, error)) {
	mails, err := read()
	if err != nil {
		http.Error(w, err.Error(), http.StatusInternalServerError)
		return
	}
	_ = json.NewEncoder(w).Encode(map[string][]Mail{"mails": mails}) // the client may have disconnected
}
