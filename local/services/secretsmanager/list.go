package secretsmanager

import (
	"context"
	"encoding/json"
	"slices"
	"strings"

	"stepback/aws"
)

type filter struct {
	Key    string
	Values []string
}

type listSecrets struct {
	Deleted bool   `json:"IncludePlannedDeletion"`
	Most    int    `json:"MaxResults"`
	Next    string `json:"NextToken"`
	Filters []filter
	Order   string `json:"SortOrder"`
	By      string `json:"SortBy"`
}

type listedSecret struct {
	description
	Stages map[string][]string `json:"SecretVersionsToStages,omitempty"`
}

type secretList struct {
	Secrets []listedSecret `json:"SecretList"`
	Next    string         `json:"NextToken,omitempty"`
}

// filtered returns the secrets of a scope that match all filters.
func (s *Service) filtered(scope aws.Scope, filters []filter, deleted bool) (all []*secret, err error) {
	for _, f := range filters {
		if f.Values == nil {
			return nil, invalid("Invalid filter values for key: " + f.Key)
		}
	}
	err = s.table.Scan(place(scope, ""), func(_ string, text []byte) error {
		x := &secret{scope: scope}
		if err := json.Unmarshal(text, x); err != nil {
			return err
		}
		if s.gone(x) || !deleted && !x.Deleted.IsZero() {
			return nil
		}
		for _, f := range filters {
			if !f.lets(x) {
				return nil
			}
		}
		all = append(all, x)
		return nil
	})
	return all, err
}

// lets reports whether a secret matches the filter. If the filter has values without a leading !, one of them must
// be a prefix of a compared text. No value after a ! may be such a prefix.
func (f filter) lets(x *secret) bool {
	var about []string
	if f.Key == "name" || f.Key == "all" {
		about = append(about, x.Name)
	}
	if f.Key == "description" || f.Key == "all" {
		about = append(about, x.Description)
		about = append(about, strings.Fields(x.Description)...)
	}
	if f.Key == "owning-service" {
		about = append(about, x.Owner)
	}
	for name, text := range x.Tags {
		if f.Key == "tag-key" || f.Key == "all" {
			about = append(about, name)
		}
		if f.Key == "tag-value" || f.Key == "all" {
			about = append(about, text)
		}
	}
	wanted, found := false, false
	for _, v := range f.Values {
		prefix, not := strings.CutPrefix(v, "!")
		has := slices.ContainsFunc(about, func(text string) bool {
			if f.Key == "name" || f.Key == "tag-key" || f.Key == "tag-value" {
				return strings.HasPrefix(text, prefix)
			}
			return strings.HasPrefix(strings.ToLower(text), strings.ToLower(prefix))
		})
		if not && has {
			return false
		}
		if !not {
			wanted, found = true, found || has
		}
	}
	return found || !wanted
}

func (s *Service) listSecrets(_ context.Context, scope aws.Scope, in *listSecrets) (*secretList, error) {
	all, err := s.filtered(scope, in.Filters, in.Deleted)
	if err != nil {
		return nil, err
	}
	slices.SortStableFunc(all, func(a, b *secret) int {
		order := a.Created.Compare(b.Created)
		switch in.By {
		case "name":
			order = strings.Compare(a.Name, b.Name)
		case "last-changed-date":
			order = a.Changed.Compare(b.Changed)
		case "last-accessed-date":
			order = a.Accessed.Compare(b.Accessed)
		}
		if in.Order == "desc" {
			return -order
		}
		return order
	})
	out := &secretList{Secrets: []listedSecret{}}
	all, out.Next, err = page(in.Next, in.Most, all, func(x *secret) string { return x.Name })
	for _, x := range all {
		out.Secrets = append(out.Secrets, listedSecret{x.describe(), x.stages()})
	}
	return out, err
}
