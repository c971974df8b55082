package dynamodb

import (
	"context"
	"encoding/json"
	"maps"
	"net/http"
	"slices"
	"strings"
	"unicode"

	"stepback/aws"
	"stepback/aws/server"
	"stepback/local/services/documents"
)

type tag struct{ Key, Value string }

const mostTags = 50

var errReservedTag = invalid("One or more parameter values were invalid: Tag keys starting with aws: are reserved for system use")

// withTags returns tags with more tags added.
func withTags(tags map[string]string, more []tag) (map[string]string, error) {
	made := maps.Clone(tags)
	for _, t := range more {
		if !isTagText(t.Key) || !isTagText(t.Value) {
			return nil, invalid("One or more parameter values were invalid: Tag keys and values may contain only letters, digits, " +
				"spaces and the characters + - = . _ : / @")
		}
		if made == nil {
			made = map[string]string{}
		}
		made[t.Key] = t.Value
	}
	if len(made) > mostTags {
		return nil, invalid("One or more parameter values were invalid: Too many tags: a resource may have 50")
	}
	return made, nil
}

// isTagText reports whether a tag's key or value has only permitted characters.
func isTagText(text string) bool {
	return strings.IndexFunc(text, func(r rune) bool {
		return !unicode.IsLetter(r) && !unicode.IsDigit(r) && !unicode.IsSpace(r) && !strings.ContainsRune("+-=._:/@", r) && !unicode.IsMark(r)
	}) < 0
}

type tagging struct {
	ARN  string `json:"ResourceArn"`
	Tags []tag
	Keys []string `json:"TagKeys"`
}

// resource returns the table in a request's ARN; other resources have no tags here.
func (s *Service) resource(arn string) (aws.Scope, string, error) {
	a, ok := aws.ParseARN(arn)
	name, isTable := strings.CutPrefix(a.Resource, "table/")
	if !strings.HasPrefix(arn, "arn:") {
		return aws.Scope{}, "", invalidf("Invalid ResourceArn: ARNs must start with 'arn:': %s", arn)
	}
	if !ok || !isTable || a.Service != "dynamodb" || strings.Contains(name, "/index/") {
		return aws.Scope{}, "", invalidf("Invalid TableArn: Invalid ResourceArn provided as input %s", arn)
	}
	s.mu.RLock()
	defer s.mu.RUnlock()
	if s.tables[address{a.Scope(), name}] == nil {
		return aws.Scope{}, "", &aws.Error{Code: errNoTable.Code, Message: "Requested resource not found: ResourcArn: " + arn +
			" not found"}
	}
	return a.Scope(), name, nil
}

func (s *Service) tagResource(_ context.Context, _ aws.Scope, in *tagging) (*none, error) {
	if len(in.Tags) == 0 {
		return nil, invalid("Atleast one Tag needs to be provided as Input.")
	}
	return s.retag(in.ARN, func(tags map[string]string) (map[string]string, error) { return withTags(tags, in.Tags) })
}

func (s *Service) untagResource(_ context.Context, _ aws.Scope, in *tagging) (*none, error) {
	if len(in.Keys) == 0 {
		return nil, invalid("Atleast one Tag Key needs to be provided as Input.")
	}
	return s.retag(in.ARN, func(tags map[string]string) (map[string]string, error) {
		tags = maps.Clone(tags)
		maps.DeleteFunc(tags, func(k, _ string) bool { return slices.Contains(in.Keys, k) })
		return tags, nil
	})
}

func (s *Service) retag(arn string, change func(map[string]string) (map[string]string, error)) (*none, error) {
	scope, name, err := s.resource(arn)
	if err != nil {
		return nil, err
	}
	_, err = s.alter(scope, name, func(_ int64, _ *documents.Batch, t *table) (*table, error) {
		tags, err := change(t.Tags)
		return t.changed(func(r *record) { r.Tags = tags }), err
	})
	return &none{}, err
}

type tags struct {
	Tags []tag
	Next string `json:"NextToken,omitempty"`
}

func (s *Service) listTagsOfResource(_ context.Context, _ aws.Scope, in *tagging) (*tags, error) {
	scope, name, err := s.resource(in.ARN)
	if err != nil {
		return nil, err
	}
	t, err := s.find(scope, name)
	if err != nil {
		return nil, err
	}
	out := &tags{Tags: []tag{}}
	for _, k := range slices.Sorted(maps.Keys(t.Tags)) {
		out.Tags = append(out.Tags, tag{k, t.Tags[k]})
	}
	return out, nil
}

// recovery is the setting of point-in-time recovery, which is stored but has no effect: there are no backups.
type recovery struct {
	Enabled bool
	Days    int64
	Since   int64 // milliseconds since 1970
}

type updateBackups struct {
	tableRequest
	Recovery struct {
		Enabled bool   `json:"PointInTimeRecoveryEnabled"`
		Days    *int64 `json:"RecoveryPeriodInDays"`
	} `json:"PointInTimeRecoverySpecification"`
}

type backups struct {
	Description backupsDescription `json:"ContinuousBackupsDescription"`
}

type backupsDescription struct {
	Status   string              `json:"ContinuousBackupsStatus"`
	Recovery recoveryDescription `json:"PointInTimeRecoveryDescription"`
}

type recoveryDescription struct {
	Status   string       `json:"PointInTimeRecoveryStatus"`
	Days     int64        `json:"RecoveryPeriodInDays,omitempty"`
	Earliest *server.Time `json:"EarliestRestorableDateTime,omitempty"`
	Latest   *server.Time `json:"LatestRestorableDateTime,omitempty"`
}

func (s *Service) updateContinuousBackups(_ context.Context, scope aws.Scope, in *updateBackups) (*backups, error) {
	days := int64(35)
	if in.Recovery.Days != nil {
		days = *in.Recovery.Days
	}
	t, err := s.alter(scope, in.Name, func(now int64, _ *documents.Batch, t *table) (*table, error) {
		return t.changed(func(r *record) { r.Recovery = &recovery{in.Recovery.Enabled, days, now} }), nil
	})
	if err != nil {
		return nil, tableNotFound(err)
	}
	return backupsOf(t), nil
}

func (s *Service) describeContinuousBackups(_ context.Context, scope aws.Scope, in *tableRequest) (*backups, error) {
	t, err := s.find(scope, in.Name)
	if err != nil {
		return nil, tableNotFound(err)
	}
	return backupsOf(t), nil
}

// tableNotFound changes the error for a missing table to the one that the backup operations return.
func tableNotFound(err error) error {
	if e := failureOf(err); e != nil && e.Code == errNoTable.Code {
		return &aws.Error{Code: "TableNotFoundException", Message: strings.Replace(e.Message,
			"Requested resource not found: ", "", 1)}
	}
	return err
}

func backupsOf(t *table) *backups {
	out := &backups{backupsDescription{Status: "ENABLED", Recovery: recoveryDescription{Status: "DISABLED"}}}
	if r := t.Recovery; r != nil && r.Enabled {
		out.Description.Recovery = recoveryDescription{Status: "ENABLED", Days: r.Days}
	}
	return out
}

type policyRequest struct {
	ARN      string `json:"ResourceArn"`
	Policy   string
	Expected string `json:"ExpectedRevisionId"`
}

type policy struct {
	Policy   string `json:",omitempty"`
	Revision string `json:"RevisionId,omitempty"`
}

type revision struct {
	Revision string `json:"RevisionId,omitempty"`
}

var errNoPolicy = &aws.Error{Code: "PolicyNotFoundException", Status: http.StatusBadRequest,
	Message: "Resource-based policy not found for the provided ResourceArn"}

// noPolicy is the revision ID with which a client requires that the table has no policy yet.
const noPolicy = "NO_POLICY"

func (s *Service) putResourcePolicy(_ context.Context, _ aws.Scope, in *policyRequest) (*revision, error) {
	if !json.Valid([]byte(in.Policy)) {
		return nil, invalid("Invalid policy document: it is no JSON")
	}
	return s.repolicy(in, in.Policy)
}

func (s *Service) deleteResourcePolicy(_ context.Context, _ aws.Scope, in *policyRequest) (*revision, error) {
	return s.repolicy(in, "")
}

func (s *Service) repolicy(in *policyRequest, to string) (*revision, error) {
	scope, name, err := s.resource(in.ARN)
	if err != nil {
		return nil, err
	}
	out := &revision{}
	_, err = s.alter(scope, name, func(_ int64, _ *documents.Batch, t *table) (*table, error) {
		there := t.PolicyRevision
		if there == "" {
			there = noPolicy
		}
		if in.Expected != "" && in.Expected != there {
			return nil, errNoPolicy
		}
		out.Revision = t.PolicyRevision
		if to != "" {
			out.Revision = aws.NewID()
		}
		return t.changed(func(r *record) {
			if r.Policy, r.PolicyRevision = to, out.Revision; to == "" {
				r.PolicyRevision = ""
			}
		}), nil
	})
	return out, err
}

func (s *Service) getResourcePolicy(_ context.Context, _ aws.Scope, in *policyRequest) (*policy, error) {
	scope, name, err := s.resource(in.ARN)
	if err != nil {
		return nil, err
	}
	t, err := s.find(scope, name)
	switch {
	case err != nil:
		return nil, err
	case t.Policy == "":
		return nil, errNoPolicy
	}
	return &policy{t.Policy, t.PolicyRevision}, nil
}

type limits struct {
	AccountMaxReadCapacityUnits  int64
	AccountMaxWriteCapacityUnits int64
	TableMaxReadCapacityUnits    int64
	TableMaxWriteCapacityUnits   int64
}

func (s *Service) describeLimits(context.Context, aws.Scope, *none) (*limits, error) {
	const account, table = 80000, 40000
	return &limits{account, account, table, table}, nil
}

// describeEndpoints returns the address to which the request was sent.
func (s *Service) describeEndpoints(_ context.Context, r *server.Request) (*server.Answer, error) {
	const minutes = 1440
	return &server.Answer{Output: map[string]any{"Endpoints": []any{
		map[string]any{"Address": r.HTTP.Host, "CachePeriodInMinutes": minutes}}}}, nil
}
