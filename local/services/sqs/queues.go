package sqs

import (
	"context"
	"fmt"
	"maps"
	"net/http"
	"regexp"
	"slices"
	"strings"
	"sync"

	"stepback/aws"
	"stepback/aws/server"
	"stepback/local/services/sqs/store"
)

var (
	standardName = sync.OnceValue(func() *regexp.Regexp { return regexp.MustCompile(`^[A-Za-z0-9_-]{1,80}$`) })
	fifoName     = sync.OnceValue(func() *regexp.Regexp { return regexp.MustCompile(`^[A-Za-z0-9_-]{1,75}\.fifo$`) })
)

type queueURL struct {
	URL string `json:"QueueUrl"`
}

type createQueueRequest struct {
	QueueName  string
	Attributes map[string]string
	Tags       map[string]string `json:"tags"`
}

// createQueue creates a queue. If a queue with the same name and attributes already exists, it returns that queue.
func (s *Service) createQueue(_ context.Context, r *server.Request) (*server.Answer, error) {
	var in createQueueRequest
	if err := server.Fill(&in, r.Input); err != nil {
		return nil, err
	}
	in.Attributes = normalized(in.Attributes)
	fifo := in.Attributes[fifoQueue] == "true"
	switch {
	case fifo && !fifoName().MatchString(in.QueueName):
		return nil, invalid("The name of a FIFO queue can only include alphanumeric characters, hyphens, or " +
			"underscores, must end with .fifo suffix and be 1 to 80 in length.")
	case !fifo && !standardName().MatchString(in.QueueName):
		return nil, invalid("Can only include alphanumeric characters, hyphens, or underscores. 1 to 80 in length")
	}
	if err := checkAttributes(in.Attributes, fifo); err != nil {
		return nil, err
	}
	if err := checkTags(in.QueueName, in.Tags); err != nil {
		return nil, err
	}
	made := record{Account: r.Scope.Account, Region: r.Scope.Region, Name: in.QueueName,
		Attributes: encrypted(merged(nil, in.Attributes), in.Attributes), Tags: in.Tags}
	scope := aws.Scope{Account: made.Account, Region: made.Region}
	var q *live
	err := s.change(func(now int64, b *store.Batch) error {
		if q = s.queues[address{scope, made.Name}]; q != nil {
			b.Sync()
			return q.checkSame(now, in.Attributes)
		}
		if err := s.checkTogether(scope.ARN("sqs", made.Name), made.Attributes); err != nil {
			return err
		}
		made.Created, made.Modified = now, now
		q = s.add(s.number(b), made)
		return s.keep(b, q)
	})
	if err != nil {
		return nil, err
	}
	return &server.Answer{Output: queueURL{q.url(s.base(r.HTTP))}}, nil
}

// checkSame returns an error if a queue is created again with different attributes.
func (q *live) checkSame(now int64, given map[string]string) error {
	known := q.known(now)
	for _, name := range slices.Sorted(maps.Keys(given)) {
		if known[name] != given[name] {
			return &aws.Error{Code: "QueueNameExists", Message: "A queue already exists with the same name and a " +
				"different value for attribute " + name}
		}
	}
	return nil
}

func (s *Service) deleteQueue(_ context.Context, scope aws.Scope, in *queueRequest) (*none, error) {
	return &none{}, s.on(scope, in.URL, func(_ int64, b *store.Batch, q *live) error {
		q.empty(b)
		b.DeleteQueue(q.id)
		delete(s.queues, address{q.scope(), q.Name})
		delete(s.byID, q.id)
		for id, m := range s.moves {
			if m.Source == q.arn {
				delete(s.moves, id)
				b.DeleteMove(id)
			}
		}
		s.wake(q, len(q.waiting))
		return nil
	})
}

type queueURLRequest struct {
	QueueName string
	Owner     string `json:"QueueOwnerAWSAccountId"`
}

func (s *Service) getQueueURL(_ context.Context, r *server.Request) (*server.Answer, error) {
	var in queueURLRequest
	if err := server.Fill(&in, r.Input); err != nil {
		return nil, err
	}
	at := address{aws.Scope{Account: r.Scope.Account, Region: r.Scope.Region}, in.QueueName}
	if in.Owner != "" {
		at.scope.Account = in.Owner
	}
	s.mu.Lock()
	q := s.queues[at]
	s.mu.Unlock()
	if q == nil {
		return nil, errNoQueue
	}
	return &server.Answer{Output: queueURL{q.url(s.base(r.HTTP))}}, nil
}

// page holds the paging members of a request.
type page struct {
	NextToken  string
	MaxResults *int
}

const mostResults = 1000

// cut returns the URLs of one page of queues. It returns a next token only if the request sets MaxResults.
func (s *Service) cut(p page, r *http.Request, list []*live, words ...string) (urls []string, next string, err error) {
	size := mostResults
	if p.MaxResults != nil {
		if size = *p.MaxResults; size < 1 || size > mostResults {
			return nil, "", invalidValue(size, "MaxResults", "MaxResults must be an integer between 1 and 1000.")
		}
	}
	slices.SortFunc(list, func(a, b *live) int { return strings.Compare(a.Name, b.Name) })
	found, next, ok := aws.Page(aws.NewListing(s.clock.Now(), words...), p.NextToken, size, list,
		func(q *live) string { return q.Name })
	if !ok {
		return nil, "", invalidValue(p.NextToken, "NextToken", "The token is not valid for this request.")
	}
	if p.MaxResults == nil {
		next = ""
	}
	for _, q := range found {
		urls = append(urls, q.url(s.base(r)))
	}
	return urls, next, nil
}

type queueURLs struct {
	URLs      []string `json:"QueueUrls,omitempty"`
	NextToken string   `json:",omitempty"`
}

type listQueuesRequest struct {
	page
	QueueNamePrefix string
}

func (s *Service) listQueues(_ context.Context, r *server.Request) (*server.Answer, error) {
	var in listQueuesRequest
	if err := server.Fill(&in, r.Input); err != nil {
		return nil, err
	}
	var list []*live
	s.mu.Lock()
	for at, q := range s.queues {
		if at.scope.Account == r.Scope.Account && at.scope.Region == r.Scope.Region &&
			strings.HasPrefix(at.name, in.QueueNamePrefix) {
			list = append(list, q)
		}
	}
	s.mu.Unlock()
	urls, next, err := s.cut(in.page, r.HTTP, list, "ListQueues", r.Scope.Account, r.Scope.Region, in.QueueNamePrefix)
	return &server.Answer{Output: queueURLs{urls, next}}, err
}

type sourceURLs struct {
	URLs      []string `json:"queueUrls"`
	NextToken string   `json:",omitempty"`
}

type sourceQueuesRequest struct {
	page
	queueRequest
}

func (s *Service) listDeadLetterSourceQueues(_ context.Context, r *server.Request) (*server.Answer, error) {
	var in sourceQueuesRequest
	if err := server.Fill(&in, r.Input); err != nil {
		return nil, err
	}
	s.mu.Lock()
	q, err := s.find(r.Scope, in.URL)
	var list []*live
	if err == nil {
		list = s.sources(q.arn)
	}
	s.mu.Unlock()
	if err != nil {
		return nil, err
	}
	urls, next, err := s.cut(in.page, r.HTTP, list, "ListDeadLetterSourceQueues", q.arn)
	if urls == nil {
		urls = []string{}
	}
	return &server.Answer{Output: sourceURLs{urls, next}}, err
}

// sources returns the queues whose dead-letter queue has the given ARN. mu is held.
func (s *Service) sources(arn string) (list []*live) {
	for _, q := range s.queues {
		if q.limits.redrive.target == arn {
			list = append(list, q)
		}
	}
	return list
}

// purgeInterval is the minimum time between two purges of a queue, in milliseconds.
const purgeInterval = 60_000

func (s *Service) purgeQueue(_ context.Context, scope aws.Scope, in *queueRequest) (*none, error) {
	return &none{}, s.on(scope, in.URL, func(now int64, b *store.Batch, q *live) error {
		if q.Purged != 0 && now < q.Purged+purgeInterval {
			return &aws.Error{Code: "PurgeQueueInProgress", Status: http.StatusForbidden, Message: fmt.Sprintf(
				"Only one PurgeQueue operation on %s is allowed every 60 seconds.", q.Name)}
		}
		q.empty(b)
		q.Purged = now
		return s.keep(b, q)
	})
}

// empty deletes the messages and the deduplication keys of a queue.
func (q *live) empty(b *store.Batch) {
	messages, duplicates := q.queue.Purge()
	for _, m := range messages {
		b.DeleteMessage(q.id, m)
	}
	for _, name := range duplicates {
		b.DeleteDuplicate(q.id, name)
	}
}
