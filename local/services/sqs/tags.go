package sqs

import (
	"context"
	"maps"

	"stepback/aws"
	"stepback/local/services/sqs/store"
)

// SQS's limits for tags.
const (
	mostTags     = 50
	mostTagKey   = 128
	mostTagValue = 256
)

func checkTags(queue string, tags map[string]string) error {
	if len(tags) > mostTags {
		return invalid("Too many tags added for queue %s.", queue)
	}
	for k, v := range tags {
		if k == "" || len([]rune(k)) > mostTagKey || len([]rune(v)) > mostTagValue {
			return invalid("Tag keys must be between 1 and 128 characters in length, and tag values at most 256: %q.", k)
		}
	}
	return nil
}

type tagsAnswer struct {
	Tags map[string]string `json:",omitempty"`
}

func (s *Service) listQueueTags(_ context.Context, scope aws.Scope, in *queueRequest) (*tagsAnswer, error) {
	s.mu.Lock()
	defer s.mu.Unlock()
	q, err := s.find(scope, in.URL)
	if err != nil {
		return nil, err
	}
	return &tagsAnswer{maps.Clone(q.Tags)}, nil
}

type tagRequest struct {
	queueRequest
	Tags map[string]string
}

func (s *Service) tagQueue(_ context.Context, scope aws.Scope, in *tagRequest) (*none, error) {
	if len(in.Tags) == 0 {
		return nil, missing("Tags")
	}
	return &none{}, s.on(scope, in.URL, func(_ int64, b *store.Batch, q *live) error {
		made := map[string]string{}
		maps.Copy(made, q.Tags)
		maps.Copy(made, in.Tags)
		if err := checkTags(q.Name, made); err != nil {
			return err
		}
		q.Tags = made
		return s.keep(b, q)
	})
}

type untagRequest struct {
	queueRequest
	Keys []string `json:"TagKeys"`
}

func (s *Service) untagQueue(_ context.Context, scope aws.Scope, in *untagRequest) (*none, error) {
	if len(in.Keys) == 0 {
		return nil, missing("TagKeys")
	}
	return &none{}, s.on(scope, in.URL, func(_ int64, b *store.Batch, q *live) error {
		q.Tags = maps.Clone(q.Tags)
		for _, k := range in.Keys {
			delete(q.Tags, k)
		}
		return s.keep(b, q)
	})
}
