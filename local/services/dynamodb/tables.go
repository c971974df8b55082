package dynamodb

import (
	"context"
	"slices"

	"stepback/aws"
	"stepback/local/services/documents"
)

// tableRequest is a request about a table.
type tableRequest struct {
	Name string `json:"TableName"`
}

type described struct {
	Table *tableDescription
}

func (s *Service) describeTable(_ context.Context, scope aws.Scope, in *tableRequest) (*described, error) {
	t, err := s.find(scope, in.Name)
	if err != nil {
		return nil, err
	}
	return &described{s.describe(t, statusActive)}, nil
}

func (s *Service) deleteTable(_ context.Context, scope aws.Scope, in *tableRequest) (*describedNew, error) {
	scope, name, err := nameOf(scope, in.Name)
	if err != nil {
		return nil, err
	}
	var gone *table
	err = s.change(func(now int64, b *documents.Batch) error {
		gone = s.tables[address{scope, name}]
		switch {
		case gone == nil:
			return noTable(name)
		case gone.Protected:
			return invalid("Resource cannot be deleted as it is currently protected against deletion. " +
				"Disable deletion protection first.")
		}
		if err := s.endStream(now, b, gone.Stream); err != nil {
			return err
		}
		for _, kind := range []byte{tableKey, statsKey, itemKey, indexKey, expiryKey} {
			b.UnsetAll(key(kind, gone.number))
		}
		delete(s.tables, address{scope, name})
		return nil
	})
	if err != nil {
		return nil, err
	}
	d := s.describe(gone, statusDeleting)
	d.Created, d.Definitions, d.Keys, d.Local, d.Global = nil, nil, nil, nil, nil
	return &describedNew{d}, nil
}

type listTables struct {
	After string `json:"ExclusiveStartTableName"`
	Limit *int
}

type tableNames struct {
	Names []string `json:"TableNames"`
	Last  string   `json:"LastEvaluatedTableName,omitempty"`
}

func (s *Service) listTables(_ context.Context, scope aws.Scope, in *listTables) (*tableNames, error) {
	limit := 100
	if in.Limit != nil {
		limit = *in.Limit
	}
	out := &tableNames{Names: []string{}}
	s.mu.RLock()
	for a := range s.tables {
		if a.scope == scope && a.name > in.After {
			out.Names = append(out.Names, a.name)
		}
	}
	s.mu.RUnlock()
	slices.Sort(out.Names)
	if len(out.Names) > limit {
		out.Names = out.Names[:limit]
		out.Last = out.Names[limit-1]
	}
	return out, nil
}

// alter replaces a table with the changed version that change returns.
func (s *Service) alter(scope aws.Scope, name string,
	change func(now int64, b *documents.Batch, t *table) (*table, error)) (*table, error) {
	scope, name, err := nameOf(scope, name)
	if err != nil {
		return nil, err
	}
	var made *table
	err = s.change(func(now int64, b *documents.Batch) error {
		t := s.tables[address{scope, name}]
		if t == nil {
			return noTable(name)
		}
		if made, err = change(now, b, t); err != nil {
			return err
		}
		return s.keep(b, made)
	})
	return made, err
}
