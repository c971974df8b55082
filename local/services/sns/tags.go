package sns

import (
	"context"
	"slices"

	"stepback/aws"
	"stepback/local/services/documents"
)

type tag struct{ Key, Value string }

// SNS's limits for tags.
const (
	mostTags     = 50
	mostTagKey   = 128
	mostTagValue = 256
)

func checkTags(tags []tag) error {
	if len(tags) > mostTags {
		return &aws.Error{Code: "TagLimitExceeded", Message: "Could not complete request: tag quota of per resource " +
			"exceeded"}
	}
	seen := map[string]bool{}
	for _, t := range tags {
		if seen[t.Key] {
			return invalid("Duplicated keys are not allowed.")
		}
		seen[t.Key] = true
		if n := len([]rune(t.Key)); n == 0 || n > mostTagKey {
			return invalid("Tags Reason: the key of a tag has 1 to 128 characters")
		}
		if len([]rune(t.Value)) > mostTagValue {
			return invalid("Tags Reason: the value of a tag has at most 256 characters")
		}
	}
	return nil
}

type tagsRequest struct {
	ARN  string `json:"ResourceArn"`
	Tags []tag
	Keys []string `json:"TagKeys"`
}

type tagsAnswer struct{ Tags []tag }

func (s *Service) listTagsForResource(_ context.Context, _ aws.Scope, in *tagsRequest) (*tagsAnswer, error) {
	s.mu.RLock()
	defer s.mu.RUnlock()
	t := s.topics[in.ARN]
	if t == nil {
		return nil, errNoResource
	}
	return &tagsAnswer{append([]tag{}, t.Tags...)}, nil
}

// onTags applies f to the tags of a topic.
func (s *Service) onTags(arn string, f func([]tag) []tag) error {
	return s.change(func(_ int64, b *documents.Batch) error {
		t := s.topics[arn]
		if t == nil {
			return errNoResource
		}
		made := f(slices.Clone(t.Tags))
		if err := checkTags(made); err != nil {
			return err
		}
		t.Tags = made
		return s.keepTopic(b, t)
	})
}

func (s *Service) tagResource(_ context.Context, _ aws.Scope, in *tagsRequest) (*none, error) {
	if err := checkTags(in.Tags); err != nil {
		return nil, err
	}
	return &none{}, s.onTags(in.ARN, func(tags []tag) []tag {
		for _, given := range in.Tags {
			i := slices.IndexFunc(tags, func(t tag) bool { return t.Key == given.Key })
			if i < 0 {
				tags = append(tags, given)
			} else {
				tags[i] = given
			}
		}
		return tags
	})
}

func (s *Service) untagResource(_ context.Context, _ aws.Scope, in *tagsRequest) (*none, error) {
	return &none{}, s.onTags(in.ARN, func(tags []tag) []tag {
		return slices.DeleteFunc(tags, func(t tag) bool { return slices.Contains(in.Keys, t.Key) })
	})
}
