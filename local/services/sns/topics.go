package sns

import (
	"context"
	"maps"
	"regexp"
	"slices"
	"strings"
	"sync"

	"stepback/aws"
	"stepback/local/services/documents"
)

// topicRecord is a topic as it is stored.
type topicRecord struct {
	Account, Region, Name string
	Attributes            map[string]string `json:",omitempty"` // verbatim
	Tags                  []tag             `json:",omitempty"`
	DataProtection        string            `json:",omitempty"` // DataProtectionPolicy, verbatim
	Created               int64             // milliseconds since 1970
	Deleted               int               `json:",omitempty"` // number of deleted subscriptions
}

// topic is a topic with its subscriptions.
type topic struct {
	topicRecord
	arn  string
	fifo bool

	subscriptions []*subscription // in order of creation; replaced, never modified

	// order serializes the messages of a FIFO topic; it is held while they are passed to queues.
	order  sync.Mutex
	recent duplicates
}

func (t *topic) scope() aws.Scope { return aws.Scope{Account: t.Account, Region: t.Region} }

// addTopic adds a stored topic in memory.
func (s *Service) addTopic(r topicRecord) *topic {
	t := &topic{topicRecord: r, fifo: r.Attributes[fifoTopic] == isTrue}
	t.arn = t.scope().ARN("sns", r.Name)
	s.topics[t.arn] = t
	return t
}

func (s *Service) keepTopic(b *documents.Batch, t *topic) error {
	return s.put(b, keyTopic+t.arn, t.topicRecord)
}

// find returns the topic with the ARN in a request; scope is the request's account and region. mu is held.
func (s *Service) find(scope aws.Scope, arn string) (*topic, error) {
	a, err := parseARN("TopicArn", arn)
	if err != nil {
		return nil, err
	}
	if a.Region != scope.Region {
		return nil, invalid("TopicArn")
	}
	if t := s.topics[arn]; t != nil {
		return t, nil
	}
	return nil, errNoTopic
}

// onTopic runs f, which changes a topic.
func (s *Service) onTopic(scope aws.Scope, arn string, f func(now int64, b *documents.Batch, t *topic) error) error {
	s.mu.RLock()
	_, err := s.find(scope, arn)
	s.mu.RUnlock()
	if err != nil {
		return err
	}
	return s.change(func(now int64, b *documents.Batch) error {
		t, err := s.find(scope, arn)
		if err != nil {
			return err
		}
		return f(now, b, t)
	})
}

var (
	standardName = sync.OnceValue(func() *regexp.Regexp { return regexp.MustCompile(`^[A-Za-z0-9_-]{1,256}$`) })
	fifoName     = sync.OnceValue(func() *regexp.Regexp { return regexp.MustCompile(`^[A-Za-z0-9_-]{1,251}\.fifo$`) })
)

// topicName is a request or response that names a topic.
type topicName struct {
	ARN string `json:"TopicArn"`
}

type createTopicRequest struct {
	Name           string
	Attributes     map[string]string
	Tags           []tag
	DataProtection string `json:"DataProtectionPolicy"`
}

// CreateTopic creates a standard topic in an account and region, unless it exists, and returns its ARN. The error is
// an *aws.Error.
func (s *Service) CreateTopic(scope aws.Scope, name string) (string, error) {
	out, err := s.createTopic(context.Background(), scope, &createTopicRequest{Name: name})
	if err != nil {
		if e := failure(err); e != nil {
			err = e
		}
		return "", err
	}
	return out.ARN, nil
}

func (s *Service) createTopic(_ context.Context, scope aws.Scope, in *createTopicRequest) (*topicName, error) {
	if err := checkDataProtection(in.DataProtection); err != nil {
		return nil, err
	}
	given := maps.Clone(in.Attributes)
	if value, ok := given[fifoTopic]; ok && !strings.EqualFold(value, isTrue) && !strings.EqualFold(value, isFalse) {
		return nil, invalid("Attributes Reason: FifoTopic: Invalid value [%s]. Must be true or false.", value)
	}
	fifo := strings.EqualFold(given[fifoTopic], isTrue)
	if delete(given, fifoTopic); fifo {
		given[fifoTopic] = isTrue
	}
	if value, ok := given[contentBased]; ok {
		given[contentBased] = strings.ToLower(value)
	}
	switch {
	case fifo && !fifoName().MatchString(in.Name), !fifo && !standardName().MatchString(in.Name):
		return nil, invalid("Topic Name")
	}
	for _, name := range slices.Sorted(maps.Keys(given)) {
		if err := checkTopicAttribute(name, given[name], fifo, "Attributes Reason: "); err != nil {
			return nil, err
		}
	}
	if err := checkTags(in.Tags); err != nil {
		return nil, err
	}
	made := topicRecord{Account: scope.Account, Region: scope.Region, Name: in.Name, Attributes: given, Tags: in.Tags,
		DataProtection: in.DataProtection}
	arn := scope.ARN("sns", in.Name)
	return &topicName{arn}, s.change(func(now int64, b *documents.Batch) error {
		if t := s.topics[arn]; t != nil {
			b.Sync()
			return t.checkSame(given, in.Tags)
		}
		made.Created = now
		return s.keepTopic(b, s.addTopic(made))
	})
}

// checkSame returns an error if a topic is created again with different attributes or tags.
func (t *topic) checkSame(given map[string]string, tags []tag) error {
	known := t.known()
	for name, value := range given {
		if known[name] != value {
			return invalid("Attributes Reason: Topic already exists with different attributes")
		}
	}
	for _, g := range tags {
		if !slices.Contains(t.Tags, g) {
			return invalid("Tags Reason: Topic already exists with different tags")
		}
	}
	return nil
}

// deleteTopic deletes a topic and its subscriptions. It succeeds if the topic does not exist.
func (s *Service) deleteTopic(_ context.Context, scope aws.Scope, in *topicName) (*none, error) {
	a, err := parseARN("TopicArn", in.ARN)
	if err != nil {
		return nil, err
	}
	if a.Region != scope.Region {
		return nil, invalid("TopicArn")
	}
	s.mu.RLock()
	there := s.topics[in.ARN] != nil
	s.mu.RUnlock()
	if !there {
		return &none{}, nil
	}
	return &none{}, s.change(func(_ int64, b *documents.Batch) error {
		t := s.topics[in.ARN]
		if t == nil {
			return nil
		}
		for _, sub := range t.subscriptions {
			delete(s.subscriptions, sub.ARN)
			b.Delete(s.table, keySubscription+sub.ARN)
		}
		delete(s.topics, in.ARN)
		b.Delete(s.table, keyTopic+in.ARN)
		b.DeleteAll(s.table, keyDuplicate+in.ARN+"\x00")
		return nil
	})
}

type topicNames struct {
	Topics    []topicName
	NextToken string `json:",omitempty"`
}

// listTopics returns a page of the topics.
func (s *Service) listTopics(_ context.Context, scope aws.Scope, in *struct{ NextToken string }) (*topicNames, error) {
	prefix := scope.ARN("sns", "")
	s.mu.RLock()
	var all []string
	for arn := range s.topics {
		if strings.HasPrefix(arn, prefix) {
			all = append(all, arn)
		}
	}
	s.mu.RUnlock()
	slices.Sort(all)
	page, next, ok := aws.Page(aws.NewListing(s.clock.Now(), "ListTopics", scope.Account, scope.Region), in.NextToken,
		pageSize, all, func(arn string) string { return arn })
	if !ok {
		return nil, invalid("NextToken")
	}
	out := &topicNames{Topics: make([]topicName, len(page)), NextToken: next}
	for i, arn := range page {
		out.Topics[i] = topicName{arn}
	}
	return out, nil
}
