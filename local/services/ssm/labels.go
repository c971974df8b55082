package ssm

import (
	"context"
	"maps"
	"regexp"
	"slices"
	"sync"

	"stepback/aws"
	"stepback/local/services/documents"
)

var labelForm = sync.OnceValue(func() *regexp.Regexp { return regexp.MustCompile(`^[a-zA-Z_][a-zA-Z0-9_.-]{0,99}$`) })

// labelAllowed reports whether a label has a valid form and is not reserved.
func labelAllowed(label string) bool {
	return labelForm().MatchString(label) && !reserved.MatchString(label)
}

type labelRequest struct {
	Name    string
	Version int64 `json:"ParameterVersion"`
	Labels  []string
}

type labelAnswer struct {
	InvalidLabels []string
	Version       int64 `json:"ParameterVersion"`
}

// labels calls f to change the labels of the version that a request names. Without a version, f changes the newest
// one.
func (s *Service) labels(scope aws.Scope, in *labelRequest, f func(p *parameter, v *version) error) error {
	return s.change(func(b *documents.Batch) error {
		p, err := s.find(scope, in.Name)
		if err != nil {
			return err
		}
		if p == nil {
			return noParameter()
		}
		v := p.newest()
		if in.Version != 0 {
			i := slices.IndexFunc(p.Versions, func(v version) bool { return v.Number == in.Version })
			if i < 0 {
				return refuse("ParameterVersionNotFound", "Systems Manager could not find version %d of %s. Verify the version and "+
					"try again.", in.Version, in.Name)
			}
			v = &p.Versions[i]
		}
		if err := f(p, v); err != nil {
			return err
		}
		return s.put(b, scope, p)
	})
}

func (s *Service) labelParameterVersion(_ context.Context, scope aws.Scope, in *labelRequest) (*labelAnswer, error) {
	const most = 10
	answer := &labelAnswer{InvalidLabels: []string{}}
	return answer, s.labels(scope, in, func(p *parameter, v *version) error {
		answer.Version = v.Number
		for _, label := range in.Labels {
			if !labelAllowed(label) {
				answer.InvalidLabels = append(answer.InvalidLabels, label)
				continue
			}
			for i := range p.Versions { // a label can only be on one version
				p.Versions[i].Labels = slices.DeleteFunc(p.Versions[i].Labels,
					func(l string) bool { return l == label })
			}
			v.Labels = append(v.Labels, label)
		}
		if len(v.Labels) > most {
			return refuse("ParameterVersionLabelLimitExceeded", "A version of a parameter can have at most %d labels.", most)
		}
		return nil
	})
}

type unlabelAnswer struct{ RemovedLabels, InvalidLabels []string }

func (s *Service) unlabelParameterVersion(_ context.Context, scope aws.Scope, in *labelRequest) (*unlabelAnswer, error) {
	answer := &unlabelAnswer{[]string{}, []string{}}
	return answer, s.labels(scope, in, func(_ *parameter, v *version) error {
		for _, label := range in.Labels {
			i := slices.Index(v.Labels, label)
			if i < 0 {
				answer.InvalidLabels = append(answer.InvalidLabels, label)
				continue
			}
			v.Labels = slices.Delete(v.Labels, i, i+1)
			answer.RemovedLabels = append(answer.RemovedLabels, label)
		}
		return nil
	})
}

type tag struct{ Key, Value string }

func (p *parameter) addTags(tags []tag) {
	if p.Tags == nil && len(tags) > 0 {
		p.Tags = map[string]string{}
	}
	for _, t := range tags {
		p.Tags[t.Key] = t.Value
	}
}

type tagRequest struct {
	Type string `json:"ResourceType"`
	ID   string `json:"ResourceId"`
	Tags []tag
	Keys []string `json:"TagKeys"`
}

// tagged calls f to change the parameter that a tagging request names.
func (s *Service) tagged(scope aws.Scope, in *tagRequest, f func(*parameter) error) (*none, error) {
	return &none{}, s.change(func(b *documents.Batch) error {
		p, err := s.resource(scope, in)
		if err == nil {
			err = f(p)
		}
		if err == nil {
			err = s.put(b, scope, p)
		}
		return err
	})
}

// resource returns the parameter that a tagging request names.
func (s *Service) resource(scope aws.Scope, in *tagRequest) (*parameter, error) {
	if in.Type != "Parameter" {
		return nil, refuse("InvalidResourceType", "Only parameters can have tags here, not resources of type %s.", in.Type)
	}
	p, err := s.find(scope, in.ID)
	if err == nil && p == nil {
		err = refuse("InvalidResourceId", "The resource ID is not valid. Verify that you entered the correct ID and try again.")
	}
	return p, err
}

func (s *Service) addTagsToResource(_ context.Context, scope aws.Scope, in *tagRequest) (*none, error) {
	const most = 50
	return s.tagged(scope, in, func(p *parameter) error {
		p.addTags(in.Tags)
		if len(p.Tags) > most {
			return refuse("TooManyTagsError", "A parameter can have at most %d tags.", most)
		}
		return nil
	})
}

func (s *Service) removeTagsFromResource(_ context.Context, scope aws.Scope, in *tagRequest) (*none, error) {
	return s.tagged(scope, in, func(p *parameter) error {
		for _, k := range in.Keys {
			delete(p.Tags, k)
		}
		return nil
	})
}

type tagsAnswer struct {
	Tags []tag `json:"TagList"`
}

func (s *Service) listTagsForResource(_ context.Context, scope aws.Scope, in *tagRequest) (*tagsAnswer, error) {
	p, err := s.resource(scope, in)
	if err != nil {
		return nil, err
	}
	answer := &tagsAnswer{[]tag{}}
	for _, k := range slices.Sorted(maps.Keys(p.Tags)) {
		answer.Tags = append(answer.Tags, tag{k, p.Tags[k]})
	}
	return answer, nil
}
