package lambda

import (
	"maps"

	"stepback/aws/server"
)

type tagSet struct{ Tags map[string]string }

func (s *Service) listTags(q *request) (*server.Answer, error) {
	if uuid := s.mappingOf(q); uuid != "" {
		tags, err := s.mappings.Tags(q.scope, uuid, nil)
		return answer(tagSet{tags}, err)
	}
	if err := q.untagged(); err != nil {
		return nil, err
	}
	f, err := s.functions.Get(q.scope, q.name.Function, "")
	if err != nil {
		return nil, err
	}
	if f.Tags == nil {
		f.Tags = map[string]string{}
	}
	return answer(tagSet{f.Tags}, nil)
}

func (s *Service) tagResource(q *request) (*server.Answer, error) {
	in, err := decode[tagSet](q)
	if err != nil {
		return nil, err
	}
	if uuid := s.mappingOf(q); uuid != "" {
		_, err := s.mappings.Tags(q.scope, uuid, func(tags map[string]string) { maps.Copy(tags, in.Tags) })
		return done(err)
	}
	if err := q.untagged(); err != nil {
		return nil, err
	}
	err = s.functions.Tag(q.ctx, q.scope, q.name.Function, in.Tags)
	return done(err)
}

func (s *Service) untagResource(q *request) (*server.Answer, error) {
	in, err := decode[struct{ TagKeys []string }](q)
	if err != nil {
		return nil, err
	}
	if uuid := s.mappingOf(q); uuid != "" {
		_, err := s.mappings.Tags(q.scope, uuid, func(tags map[string]string) {
			for _, key := range in.TagKeys {
				delete(tags, key)
			}
		})
		return done(err)
	}
	if err := q.untagged(); err != nil {
		return nil, err
	}
	err = s.functions.Untag(q.ctx, q.scope, q.name.Function, in.TagKeys)
	return done(err)
}
