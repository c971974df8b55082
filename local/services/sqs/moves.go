package sqs

import (
	"cmp"
	"context"
	"encoding/base64"
	"encoding/json"
	"slices"
	"time"

	"stepback/aws"
	"stepback/local/services/documents"
	"stepback/local/services/sqs/queue"
	"stepback/local/services/sqs/store"
)

// The statuses of a message move task. CANCELLING does not occur here.
const (
	moveRunning   = "RUNNING"
	moveCompleted = "COMPLETED"
	moveCancelled = "CANCELLED"
	moveFailed    = "FAILED"
)

const (
	mostMovesASecond = 500
	mostMovesListed  = 10
	// movedAtOnce is the number of messages that a task without a rate moves in one change.
	movedAtOnce = 100
)

// move is a message move task as it is stored.
type move struct {
	id uint64

	Source, Destination string // ARNs; an empty Destination means the queues that the messages came from
	Rate                int    // messages per second; 0 means as fast as possible
	Status              string
	Failure             string `json:",omitempty"`
	Started             int64  // milliseconds since 1970
	Moved, ToMove       int64
}

// handle returns the task handle for clients.
func (m *move) handle(s *Service) string {
	text, err := json.Marshal(map[string]string{"taskId": s.messageID(m.id), "sourceArn": m.Source})
	if err != nil {
		return "" // two strings can always be marshalled
	}
	return base64.StdEncoding.EncodeToString(text)
}

func (s *Service) keepMove(b *store.Batch, m *move) error {
	text, err := json.Marshal(m)
	if err == nil {
		b.PutMove(m.id, text)
	}
	return err
}

type startMoveRequest struct {
	Source      string `json:"SourceArn"`
	Destination string `json:"DestinationArn"`
	Rate        *int   `json:"MaxNumberOfMessagesPerSecond"`
}

type taskHandle struct {
	Handle string `json:"TaskHandle"`
}

func (s *Service) startMessageMoveTask(_ context.Context, _ aws.Scope, in *startMoveRequest) (*taskHandle, error) {
	s.mu.Lock()
	known := s.byARN(in.Source) != nil
	s.mu.Unlock()
	if !known {
		return nil, noResource("SourceArn")
	}
	m := &move{Source: in.Source, Destination: in.Destination, Status: moveRunning}
	if in.Rate != nil {
		if m.Rate = *in.Rate; m.Rate < 1 || m.Rate > mostMovesASecond {
			return nil, invalidValue(m.Rate, "MaxNumberOfMessagesPerSecond",
				"The value must be an integer between 1 and 500.")
		}
	}
	err := s.change(func(now int64, b *store.Batch) error {
		source := s.byARN(in.Source)
		switch {
		case source == nil:
			return noResource("SourceArn")
		case in.Destination != "" && s.byARN(in.Destination) == nil:
			return noResource("DestinationArn")
		case in.Destination == in.Source:
			return invalid("Source queue arn and destination queue arn can not be the same.")
		case len(s.sources(in.Source)) == 0:
			return invalid("Source queue must be configured as a Dead Letter Queue.")
		case in.Destination != "" && s.byARN(in.Destination).limits.fifo != source.limits.fifo:
			return invalid("Source queue and destination queue must be of the same type.")
		}
		for _, other := range s.moves {
			if other.Source == in.Source && other.Status == moveRunning {
				return unsupported("There is already a task running. Only one active task is allowed for a source queue " +
					"arn at a given time.")
			}
		}
		if s.stopped {
			return documents.ErrClosed
		}
		s.tidy(now, b, source)
		m.id, m.Started, m.ToMove = s.number(b), now, int64(source.queue.Counts(now).Visible)
		s.moves[m.id] = m
		s.forgetMoves(b, in.Source)
		s.run(m)
		return s.keepMove(b, m)
	})
	return &taskHandle{m.handle(s)}, err
}

// forgetMoves deletes the oldest tasks of a queue, beyond the number that lists show. mu is held.
func (s *Service) forgetMoves(b *store.Batch, source string) {
	if list := s.movesOf(source); len(list) > mostMovesListed {
		for _, m := range list[mostMovesListed:] {
			delete(s.moves, m.id)
			b.DeleteMove(m.id)
		}
	}
}

// movesOf returns the tasks of a queue, latest first. mu is held.
func (s *Service) movesOf(source string) (list []*move) {
	for _, m := range s.moves {
		if m.Source == source {
			list = append(list, m)
		}
	}
	slices.SortFunc(list, func(a, b *move) int { return cmp.Compare(b.id, a.id) })
	return list
}

// run moves messages until none are left or the service is closed. It holds the clock except while it waits.
func (s *Service) run(m *move) {
	s.clock.Hold()
	s.moving.Go(func() {
		defer s.clock.Release()
		for s.ctx.Err() == nil {
			over := false
			if err := s.change(func(now int64, b *store.Batch) (err error) {
				over, err = s.step(now, b, m)
				return err
			}); err != nil {
				s.opts.Log.Error("a task that moves messages cannot go on", "source", m.Source, "error", err)
				return
			}
			if over {
				return
			}
			if m.Rate > 0 && s.clock.Sleep(s.ctx, time.Second) != nil {
				return
			}
		}
	})
}

// step moves some messages, and reports whether the task has ended. mu is held.
func (s *Service) step(now int64, b *store.Batch, m *move) (over bool, err error) {
	source := s.byARN(m.Source)
	if s.moves[m.id] != m || m.Status != moveRunning || source == nil {
		return true, nil
	}
	s.tidy(now, b, source)
	n := cmp.Or(m.Rate, movedAtOnce)
	for ; n > 0; n-- {
		taken := source.queue.Take(now, 1)
		if len(taken) == 0 {
			m.Status = moveCompleted
			break
		}
		if m.Failure = s.forward(now, b, source, m.Destination, taken[0]); m.Failure != "" {
			source.queue.Put(taken[0])
			m.Status = moveFailed
			break
		}
		m.Moved++
	}
	return m.Status != moveRunning, s.keepMove(b, m)
}

// forward moves a message to another queue, as a new message. It returns "", or the reason why the message cannot
// be moved. mu is held.
func (s *Service) forward(now int64, b *store.Batch, from *live, destination string, m *queue.Message) string {
	if destination == "" {
		destination = m.Source
	}
	to := s.byARN(destination)
	switch {
	case destination == "":
		return "CouldNotDetermineMessageSource"
	case to == nil:
		return "AWS.SimpleQueueService.NonExistentQueue"
	}
	seq := s.number(b)
	s.put(b, from, to, m, &queue.Message{Seq: seq, Body: m.Body, Origin: seq, Group: m.Group, Sent: now})
	return ""
}

type cancelled struct {
	Moved int64 `json:"ApproximateNumberOfMessagesMoved"`
}

func (s *Service) cancelMessageMoveTask(_ context.Context, _ aws.Scope, in *taskHandle) (*cancelled, error) {
	var said struct{ TaskID, SourceARN string }
	text, err := base64.StdEncoding.DecodeString(in.Handle)
	if err != nil || json.Unmarshal(text, &said) != nil || said.TaskID == "" {
		return nil, invalid("Value for parameter TaskHandle is invalid.")
	}
	s.mu.Lock()
	known := s.byARN(said.SourceARN) != nil
	s.mu.Unlock()
	if !known {
		return nil, noResource("SourceArn")
	}
	answer := &cancelled{}
	return answer, s.change(func(_ int64, b *store.Batch) error {
		for _, m := range s.moves {
			if m.handle(s) != in.Handle {
				continue
			}
			if m.Status != moveRunning {
				return unsupported("Only active tasks can be cancelled.")
			}
			m.Status, answer.Moved = moveCancelled, m.Moved
			return s.keepMove(b, m)
		}
		return errTask
	})
}

type listMovesRequest struct {
	Source string `json:"SourceArn"`
	Max    *int   `json:"MaxResults"`
}

type moveResult struct {
	Handle      string `json:"TaskHandle,omitempty"` // of a running task
	Status      string
	Source      string `json:"SourceArn"`
	Destination string `json:"DestinationArn,omitempty"`
	Rate        int    `json:"MaxNumberOfMessagesPerSecond,omitempty"`
	Moved       int64  `json:"ApproximateNumberOfMessagesMoved"`
	ToMove      int64  `json:"ApproximateNumberOfMessagesToMove"`
	Failure     string `json:"FailureReason,omitempty"`
	Started     int64  `json:"StartedTimestamp"`
}

type moveResults struct {
	Results []moveResult `json:",omitempty"`
}

func (s *Service) listMessageMoveTasks(_ context.Context, _ aws.Scope, in *listMovesRequest) (*moveResults, error) {
	n := 1
	if in.Max != nil {
		if n = *in.Max; n < 1 || n > mostMovesListed {
			return nil, invalidValue(n, "MaxResults", "The value must be an integer between 1 and 10.")
		}
	}
	s.mu.Lock()
	defer s.mu.Unlock()
	if s.byARN(in.Source) == nil {
		return nil, noResource("SourceArn")
	}
	answer := &moveResults{}
	list := s.movesOf(in.Source)
	for _, m := range list[:min(n, len(list))] {
		r := moveResult{Status: m.Status, Source: m.Source, Destination: m.Destination, Rate: m.Rate, Moved: m.Moved,
			ToMove: m.ToMove, Failure: m.Failure, Started: m.Started}
		if m.Status == moveRunning {
			r.Handle = m.handle(s)
		}
		answer.Results = append(answer.Results, r)
	}
	return answer, nil
}
