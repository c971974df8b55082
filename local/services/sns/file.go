package sns

import (
	"encoding/json"
	"errors"
	"io"
	"io/fs"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"sync"
	"time"

	"stepback/aws"
	"stepback/internal/ownerfs"
	"stepback/local/services/documents"
)

// The files in the data directory. FileName holds the messages of topics without subscriptions. OldFileName holds
// older such messages, after a rotation. ListName is the file in which earlier versions stored the ARNs of topics;
// it is read once.
const (
	FileName    = "notifications.jsonl"
	OldFileName = "notifications.1.jsonl"
	ListName    = "topics.txt"
)

// mostFileBytes is the size at which the file is rotated.
const mostFileBytes = 64 << 20

// Notification is a message in the file, one JSON object per line, with the member names that SNS uses for its
// deliveries.
type Notification struct {
	Type      string    `json:"Type"` // "Notification"
	MessageID string    `json:"MessageId"`
	TopicARN  string    `json:"TopicArn"`
	Subject   string    `json:"Subject,omitempty"`
	Message   string    `json:"Message"`
	Timestamp time.Time `json:"Timestamp"`
}

// file stores the messages of topics without subscriptions, which would be lost on AWS.
type file struct {
	dir string

	mu   sync.Mutex
	file *os.File
	size int64
	torn bool // the file ends within a line
}

// open opens or creates the file. If the last line was cut off by a crash or a full disk, a line end is added so that
// the next line can be read.
func (f *file) open(dir string) error {
	f.dir = dir
	if err := os.MkdirAll(dir, ownerfs.Dir); err != nil {
		return err
	}
	opened, err := os.OpenFile(filepath.Join(dir, FileName), os.O_APPEND|os.O_CREATE|os.O_RDWR, ownerfs.File)
	if err != nil {
		return err
	}
	f.file = opened
	if f.size, err = opened.Seek(0, io.SeekEnd); err != nil || f.size == 0 {
		return err
	}
	var last [1]byte
	_, err = opened.ReadAt(last[:], f.size-1)
	f.torn = last[0] != '\n'
	return err
}

// keep appends a message in one write.
func (f *file) keep(m *message) error {
	line, err := json.Marshal(Notification{m.Type, m.ID, m.Topic, m.Subject, m.Body, m.Time.UTC()})
	if err != nil {
		return err
	}
	line = append(line, '\n')
	f.mu.Lock()
	defer f.mu.Unlock()
	if f.size > mostFileBytes {
		if err := f.turn(); err != nil {
			return err
		}
	}
	if f.torn {
		line = append([]byte{'\n'}, line...)
	}
	written, err := f.file.Write(line)
	f.size += int64(written)
	f.torn = err != nil && (written > 0 || f.torn)
	return err
}

// turn rotates the file. mu is held.
func (f *file) turn() error {
	path := filepath.Join(f.dir, FileName)
	if err := errors.Join(f.file.Close(), os.Rename(path, filepath.Join(f.dir, OldFileName))); err != nil {
		return err
	}
	return f.open(f.dir)
}

func (f *file) close() error {
	f.mu.Lock()
	defer f.mu.Unlock()
	if f.file == nil {
		return nil
	}
	err := f.file.Close()
	if errors.Is(err, os.ErrClosed) {
		return nil
	}
	return err
}

// migrate imports the topics from a directory written by an earlier version.
func (s *Service) migrate() error {
	path := filepath.Join(s.opts.Dir, ListName)
	text, err := os.ReadFile(path)
	if errors.Is(err, fs.ErrNotExist) {
		return nil
	}
	if err != nil {
		return err
	}
	arns := strings.Fields(string(text))
	slices.Sort(arns)
	if err := s.change(func(now int64, b *documents.Batch) error {
		for _, arn := range arns {
			a, ok := aws.ParseARN(arn)
			if !ok || s.topics[arn] != nil {
				continue
			}
			if err := s.keepTopic(b, s.addTopic(topicRecord{Account: a.Account, Region: a.Region, Name: a.Resource,
				Created: now})); err != nil {
				return err
			}
		}
		return nil
	}); err != nil {
		return err
	}
	return os.Remove(path)
}
