package pipeline

import (
	"context"
	"encoding/json"
	"errors"
	"slices"
	"strings"
	"sync"
	"time"

	"github.com/aws/aws-sdk-go-v2/aws"
	"github.com/aws/aws-sdk-go-v2/credentials"
	"github.com/aws/aws-sdk-go-v2/service/sfn"
	"github.com/aws/smithy-go"

	"stepback/aws/client"
	"stepback/aws/objects"
	"stepback/csvimport/importrows"
	"stepback/local"
	"stepback/local/console"
	"stepback/outbox/deadletters"
	"stepback/outbox/deadletters/queues"
	"stepback/outbox/deadletters/s3documents"
	"stepback/outbox/deadletters/startevents"
)

// PlatformLetters provides the dead letters of all kinds on a platform, for its console: rows of imports, events that
// started no import, failed Map items, and the messages in SQS dead-letter queues. It is safe for concurrent use.
type PlatformLetters struct {
	// Others are the sources of dead letters from elsewhere, such as outboxes. They are listed first.
	Others []console.LetterStore

	mu           sync.Mutex
	letterStores []console.LetterStore // sources for the import and for Maps; nil until first requested
	queues       map[string]*console.LetterStore
	sqs          *client.Named
	states       *sfn.Client
	kept         []console.LetterStore
	until        time.Time // end of the cached result's validity
}

// looked is the time for which the sources found on a platform are cached. It is long, because a queue seldom
// becomes a dead-letter queue.
const looked = 5 * time.Second

// LetterStores returns the current sources of dead letters. The sources of imports exist only if the bucket of results
// does.
func (l *PlatformLetters) LetterStores(ctx context.Context, p *local.Platform) ([]console.LetterStore, error) {
	l.mu.Lock()
	defer l.mu.Unlock()
	if now := time.Now(); now.Before(l.until) {
		return l.kept, nil
	}
	if l.states == nil {
		if err := l.connect(ctx, p); err != nil {
			return nil, err
		}
	}
	imports, err := hasBucket(ctx, p.S3Client(), resultBucket)
	if err != nil {
		return nil, err
	}
	dead, err := l.deadLetterQueues(ctx, p)
	if err != nil {
		return nil, err
	}
	letterStores := append([]console.LetterStore{}, l.Others...)
	for i := range l.letterStores {
		if l.letterStores[i].Name == mapItems || imports {
			letterStores = append(letterStores, l.letterStores[i])
		}
	}
	l.kept, l.until = slices.Concat(letterStores, dead), time.Now().Add(looked)
	return l.kept, nil
}

// mapItems is the name of the source of failed Map items.
const mapItems = "map-items"

func (l *PlatformLetters) connect(ctx context.Context, p *local.Platform) (err error) {
	settings := aws.Config{Region: p.Scope.Region, BaseEndpoint: &p.Endpoint, RetryMaxAttempts: 1,
		Credentials: credentials.NewStaticCredentialsProvider(p.Scope.Account, "local", "")}
	if l.sqs, err = client.NewNamed(ctx, settings, "sqs"); err != nil {
		return err
	}
	l.states, l.queues = sfn.NewFromConfig(settings), map[string]*console.LetterStore{}
	names := map[deadletters.Kind]string{deadletters.KindRow: "import-rows", deadletters.KindEvent: "start-events",
		deadletters.KindItem: mapItems}
	for _, part := range LetterStores(StoresConfig{Objects: p.S3Client(), States: l.states, Results: resultBucket,
		Machine: importMachine(), Inbox: &startevents.Bucket{Store: p.S3Client(), Name: resultBucket},
		AllMachines: true,
		Executions:  failedMaps(p), Keep: platformRecord(p)}) {
		l.letterStores = append(l.letterStores,
			console.LetterStore{Name: names[part.Kind], Kind: part.Kind, Store: part.Store})
	}
	return nil
}

// failedMaps returns a function that iterates over the executions whose Map Runs have failed items. It leaves out
// those of the import, because their rows are already letters.
func failedMaps(p *local.Platform) func(context.Context, func(string) error) error {
	return func(ctx context.Context, visit func(arn string) error) error {
		last := ""
		for m, err := range p.Journal.MapRuns(ctx, "") {
			if err != nil {
				return err
			}
			machine, _, _ := strings.Cut(m.Machine, "/")
			if bad := m.Items.Failed + m.Items.TimedOut + m.Items.Aborted; bad == 0 || m.Stopped.IsZero() ||
				m.Execution == last || machine == importMachine() {
				continue
			}
			last = m.Execution
			if err := visit(m.Execution); err != nil {
				return err
			}
		}
		return nil
	}
}

// hasBucket reports whether a bucket exists.
func hasBucket(ctx context.Context, store objects.Store, name string) (bool, error) {
	_, err := store.List(ctx, objects.List{Bucket: name, Prefix: importrows.RecordPrefix})
	if noBucket(err) {
		return false, nil
	}
	return err == nil, err
}

func noBucket(err error) bool {
	api, ok := errors.AsType[smithy.APIError](err)
	return ok && api.ErrorCode() == "NoSuchBucket"
}

// record stores documents in a bucket. The bucket is created when the first document is stored.
type record struct {
	deadletters.Documents
	make func() error
}

func platformRecord(p *local.Platform) deadletters.Documents {
	return &record{&s3documents.Documents{Store: p.S3Client(), Bucket: resultBucket, Prefix: importrows.RecordPrefix},
		func() error { return p.Objects.CreateBucket(resultBucket) }}
}

// Get implements deadletters.Documents.
func (r *record) Get(ctx context.Context, name string) (text []byte, version string, err error) {
	text, version, err = r.Documents.Get(ctx, name)
	if noBucket(err) {
		return nil, "", nil
	}
	return text, version, err
}

// Put implements deadletters.Documents.
func (r *record) Put(ctx context.Context, name string, text []byte, version string) error {
	err := r.Documents.Put(ctx, name, text, version)
	if !noBucket(err) {
		return err
	}
	if err := r.make(); err != nil {
		return err
	}
	return r.Documents.Put(ctx, name, text, version)
}

// Each implements deadletters.Documents.
func (r *record) Each(ctx context.Context, prefix string,
	visit func(name string, text []byte, version string) error,
) error {
	if err := r.Documents.Each(ctx, prefix, visit); !noBucket(err) {
		return err
	}
	return nil
}

// deadLetterQueues returns the sources for the dead-letter queues of a platform.
func (l *PlatformLetters) deadLetterQueues(ctx context.Context, p *local.Platform) ([]console.LetterStore, error) {
	arns, err := deadLetterQueues(ctx, l.sqs)
	if err != nil {
		return nil, err
	}
	var letterStores []console.LetterStore
	for _, arn := range arns {
		letterStore, err := l.queue(ctx, p, arn)
		if err != nil {
			return nil, err
		}
		if letterStore != nil {
			letterStores = append(letterStores, *letterStore)
		}
	}
	return letterStores, nil
}

// deadLetterQueues returns the ARNs of the queues that the redrive policies of other queues name.
func deadLetterQueues(ctx context.Context, sqs *client.Named) ([]string, error) {
	var arns []string
	in := map[string]any{"MaxResults": 1000}
	for {
		var out struct {
			URLs []string `json:"QueueUrls"`
			Next string   `json:"NextToken"`
		}
		if err := sqs.Call(ctx, "ListQueues", in, &out); err != nil {
			return nil, err
		}
		for _, url := range out.URLs {
			arn, err := deadLetterTarget(ctx, sqs, url)
			if err != nil {
				return nil, err
			}
			if arn != "" && !slices.Contains(arns, arn) {
				arns = append(arns, arn)
			}
		}
		if out.Next == "" {
			return arns, nil
		}
		in["NextToken"] = out.Next
	}
}

// deadLetterTarget returns the ARN of a queue's dead-letter queue; empty if it has none.
func deadLetterTarget(ctx context.Context, sqs *client.Named, url string) (string, error) {
	policy, err := queueAttribute(ctx, sqs, url, "RedrivePolicy")
	if err != nil || policy == "" {
		return "", err
	}
	var to struct {
		ARN string `json:"deadLetterTargetArn"`
	}
	if err := json.Unmarshal([]byte(policy), &to); err != nil {
		return "", nil //nolint:nilerr // the service has checked it: there is none
	}
	return to.ARN, nil
}

func queueAttribute(ctx context.Context, sqs *client.Named, url, name string) (string, error) {
	var out struct{ Attributes map[string]string }
	err := sqs.Call(ctx, "GetQueueAttributes", map[string]any{"QueueUrl": url, "AttributeNames": []string{name}}, &out)
	return out.Attributes[name], err
}

// openQueue opens a dead-letter queue. It returns nil if the queue has been deleted.
func openQueue(ctx context.Context, sqs *client.Named, arn string) (*queues.Queue, error) {
	q, err := queues.Open(ctx, sqs, arn)
	if api, ok := errors.AsType[smithy.APIError](err); ok && strings.Contains(api.ErrorCode(), "NonExistentQueue") {
		return nil, nil //nolint:nilnil // see above
	}
	return q, err
}

// queue opens a dead-letter queue, or returns the one already open. It returns nil if the queue has been deleted.
func (l *PlatformLetters) queue(ctx context.Context, p *local.Platform, arn string) (*console.LetterStore, error) {
	if letterStore := l.queues[arn]; letterStore != nil {
		return letterStore, nil
	}
	q, err := openQueue(ctx, l.sqs, arn)
	if q == nil || err != nil {
		return nil, err
	}
	letterStore := &console.LetterStore{Name: "queue-" + q.Name(), Kind: deadletters.KindQueue,
		Store: Part(q, platformRecord(p)).Store,
		Depth: func(ctx context.Context) (int64, error) {
			text, err := queueAttribute(ctx, l.sqs, q.URL, "ApproximateNumberOfMessages")
			var n int64
			return n, errors.Join(err, json.Unmarshal([]byte(text), &n))
		}}
	l.queues[arn] = letterStore
	return letterStore, nil
}
