package cloudformation

import (
	"encoding/json"
	"fmt"
	"maps"
	"slices"
	"sort"
	"strings"
	"time"

	"stepback/aws"
	"stepback/engine/clock"
	"stepback/local/services/documents"
)

// The kinds of operations.
const (
	opCreate = "CREATE"
	opUpdate = "UPDATE"
	opDelete = "DELETE"
)

// The phases of an operation.
const (
	phaseApply           = "apply"
	phaseCleanup         = "cleanup"         // delete resources that an update made obsolete
	phaseRollback        = "rollback"        // delete what a create made, or restore the state before an update
	phaseRollbackCleanup = "rollbackCleanup" // delete what a failed update created
	phaseDelete          = "delete"
)

// stack is the stored form of a stack.
type stack struct {
	Account, Region, Name, ID string
	Status, Reason            string
	Created                   int64 // milliseconds since 1970, like all times here
	Updated, Deleted          int64 `json:",omitempty"`
	deployed
	Outputs          []output   `json:",omitempty"`
	DisableRollback  bool       `json:",omitempty"`
	TimeoutInMinutes int        `json:",omitempty"`
	Protected        bool       `json:",omitempty"`
	Policy           string     `json:",omitempty"`
	Parent, Root     string     `json:",omitempty"`
	ChangeSet        string     `json:",omitempty"`
	Drift            string     `json:",omitempty"`
	DriftAt          int64      `json:",omitempty"`
	Imports          []string   `json:",omitempty"`
	Operation        *operation `json:",omitempty"`
	// Paused is a failed operation that can be continued: UPDATE_FAILED, CREATE_FAILED and UPDATE_ROLLBACK_FAILED.
	Paused *operation      `json:",omitempty"`
	Last   []lastOperation `json:",omitempty"`
	Events int             // number of events so far
	Latest int64           `json:",omitempty"` // time of the latest event

	resources map[string]*record
	running   bool
	giveUp    func(error)   // cancels the waits of the running operation
	ended     []*clock.Bell // ring once the running operation has ended
}

// lastOperation is one of a stack's operations, for DescribeStacks.
type lastOperation struct {
	Type string `json:"OperationType"`
	ID   string `json:"OperationId"`
}

// deployed holds the source of a stack's deployment: the template and its parameters, tags and other settings.
type deployed struct {
	// Template is the template's text. Processed is the text after the template's transforms.
	Template  string `json:"-"`
	Processed string `json:"-"`
	// Values holds the texts of the parameters. Resolved holds the values of the parameters that name an SSM
	// parameter.
	Values, Resolved map[string]string `json:",omitempty"`
	// Included holds the texts of the snippets that AWS::Include has read, by location.
	Included         map[string]string `json:",omitempty"`
	Tags             map[string]string `json:",omitempty"`
	Capabilities     []string          `json:",omitempty"`
	NotificationARNs []string          `json:",omitempty"`
	RoleARN          string            `json:",omitempty"`
	Description      string            `json:",omitempty"`
	Rollback         rollbackConfiguration
}

type output struct {
	Key         string `json:"OutputKey"`
	Value       string `json:"OutputValue"`
	Description string `json:",omitempty"`
	Export      string `json:"ExportName,omitempty"`
}

// operation is a running operation of a stack.
type operation struct {
	ID, Kind, Phase string
	Token           string   `json:",omitempty"`
	Target          deployed // for creates and updates
	DisableRollback bool     `json:",omitempty"`
	OnFailure       string   `json:",omitempty"` // for creates: ROLLBACK, DELETE, DO_NOTHING
	RetainNew       bool     `json:",omitempty"` // RetainExceptOnCreate
	Retain          []string `json:",omitempty"`
	Skip            []string `json:",omitempty"`
	Force           bool     `json:",omitempty"`
	Import          bool     `json:",omitempty"`
	// Imports maps logical IDs to the identifiers of the resources that an import adds.
	Imports  map[string]string `json:",omitempty"`
	Deadline int64             `json:",omitempty"`
	Policy   string            `json:",omitempty"` // the stack policy during the update
	Failure  string            `json:",omitempty"`
	// Cancelled is why a creation or update is given up; empty if it is not.
	Cancelled string `json:",omitempty"`
	// Caller is the access key of the client that asked for the operation; empty if the client may do everything.
	Caller string `json:",omitempty"`
}

// made is the state of a resource after a deployment.
type made struct {
	Type, Physical, Ref string
	Properties          map[string]any    `json:",omitempty"`
	Attributes          map[string]any    `json:",omitempty"`
	Tags                map[string]string `json:",omitempty"`
	Needs               []string          `json:",omitempty"`
	DeletionPolicy      string            `json:",omitempty"`
	UpdateReplacePolicy string            `json:",omitempty"`
	Metadata            any               `json:",omitempty"`
	Suffix              string            `json:",omitempty"`
	// SystemTags is true if the resource has CloudFormation's own tags; resources created by older versions do not.
	SystemTags bool `json:",omitempty"`
}

// record is the stored form of a resource.
type record struct {
	ID string
	made
	Status, Reason string
	Updated        int64
	// Operation is the ID of the operation that last changed the resource. Doing is its action: create, update,
	// replace or delete.
	Operation, Doing string `json:",omitempty"`
	// Before is the resource's state after the last successful deployment, while an operation changes it. New is true
	// if there was none. Trash holds replaced physical resources until they are cleaned up.
	Before *made  `json:",omitempty"`
	New    bool   `json:",omitempty"`
	Trash  []made `json:",omitempty"`
	// Token is the token with which a custom resource responds.
	Token  string `json:",omitempty"`
	Drift  *drift `json:",omitempty"`
	NoEcho bool   `json:",omitempty"`
}

type event struct {
	ID, LogicalID, Physical, Type, Status, Reason, Properties, Token, Operation string `json:",omitempty"`
	At                                                                          int64
}

const stackType = "AWS::CloudFormation::Stack"

func (st *stack) scope() aws.Scope { return aws.Scope{Account: st.Account, Region: st.Region} }

// uuid returns the last part of the stack's ARN.
func (st *stack) uuid() string { return st.ID[strings.LastIndexByte(st.ID, '/')+1:] }

func (st *stack) gone() bool { return st.Status == "DELETE_COMPLETE" }

// busy reports whether an operation is running.
func (st *stack) busy() bool { return st.Operation != nil }

// ids returns the logical IDs of the resources, sorted.
func (st *stack) ids() []string { return slices.Sorted(maps.Keys(st.resources)) }

// Keys of stored records.
func (st *stack) key() string                  { return "stack/" + st.uuid() }
func (st *stack) textKey(which string) string  { return "text/" + st.uuid() + "/" + which }
func (st *stack) resourceKey(id string) string { return "resource/" + st.uuid() + "/" + id }
func (st *stack) eventKey(n int) string        { return fmt.Sprintf("event/%s/%09d", st.uuid(), n) }
func (c *changeSet) key() string               { return "changeset/" + c.ID[strings.LastIndexByte(c.ID, '/')+1:] }
func responseKey(token, one string) string     { return "response/" + token + "/" + one }

const (
	textCurrent, textProcessed = "current", "processed"
	textTarget, textExpanded   = "target", "expanded"
)

// load loads everything except events and responses.
func (s *Service) load() error {
	byUUID := map[string]*stack{}
	if err := s.table.Scan("stack/", func(_ string, value []byte) error {
		st := &stack{resources: map[string]*record{}}
		if err := json.Unmarshal(value, st); err != nil {
			return err
		}
		s.stacks[st.ID], byUUID[st.uuid()] = st, st
		return nil
	}); err != nil {
		return err
	}
	if err := s.table.Scan("resource/", func(key string, value []byte) error {
		r := &record{}
		if st := byUUID[strings.Split(key, "/")[1]]; st != nil {
			st.resources[key[strings.LastIndexByte(key, '/')+1:]] = r
		}
		return json.Unmarshal(value, r)
	}); err != nil {
		return err
	}
	if err := s.table.Scan("text/", func(key string, value []byte) error {
		parts := strings.Split(key, "/")
		st := byUUID[parts[1]]
		if st == nil {
			return nil
		}
		switch parts[2] {
		case textCurrent:
			st.Template = string(value)
		case textProcessed:
			st.Processed = string(value)
		}
		for _, op := range []*operation{st.Operation, st.Paused} {
			switch {
			case op == nil:
			case parts[2] == textTarget:
				op.Target.Template = string(value)
			case parts[2] == textExpanded:
				op.Target.Processed = string(value)
			}
		}
		return nil
	}); err != nil {
		return err
	}
	return s.table.Scan("changeset/", func(_ string, value []byte) error {
		var k keptChangeSet
		if err := json.Unmarshal(value, &k); err != nil {
			return err
		}
		c := k.changeSet
		c.Target.Template, c.Target.Processed = k.Text, k.Expanded
		s.sets[c.ID] = &c
		return nil
	})
}

// change executes a change of stored records and waits until it is on disk. f runs with mu held.
func (s *Service) change(f func(k *keeper) error) error {
	s.mu.Lock()
	b, err := s.opts.Documents.Begin()
	if err != nil {
		s.mu.Unlock()
		return err
	}
	k := &keeper{s: s, b: b}
	err = f(k)
	if k.err != nil {
		err = k.err
	}
	wait := b.Apply()
	s.mu.Unlock()
	if e := wait(); e != nil {
		return e
	}
	return err
}

// keeper adds records to a batch.
type keeper struct {
	s   *Service
	b   *documents.Batch
	err error
}

func (k *keeper) put(key string, v any) {
	text, err := json.Marshal(v)
	if err != nil {
		k.err = err
		return
	}
	k.b.Put(k.s.table, key, text)
}

func (k *keeper) stack(st *stack) { k.put(st.key(), st) }

func (k *keeper) text(st *stack, which, text string) {
	k.b.Put(k.s.table, st.textKey(which), []byte(text))
}

func (k *keeper) resource(st *stack, r *record) { k.put(st.resourceKey(r.ID), r) }

func (k *keeper) forget(st *stack, id string) {
	delete(st.resources, id)
	k.b.Delete(k.s.table, st.resourceKey(id))
}

// event adds an event of a stack; the stack is stored as well, because of its event count.
func (k *keeper) event(st *stack, e event) {
	// No two events of a stack have the same time, because clients sort by it.
	e.ID, e.At = aws.NewID(), max(k.s.now().UnixMilli(), st.Latest+1)
	if e.Type != stackType || e.Physical != st.ID {
		e.ID = fmt.Sprintf("%s-%s-%s", e.LogicalID, e.Status, instant(e.At).Format("2006-01-02T15:04:05.000Z"))
		// as recorded from AWS: events of cleaned-up resources have fewer details
		if strings.HasSuffix(st.Status, "_CLEANUP_IN_PROGRESS") {
			e.ID, e.Properties = e.LogicalID+"-"+aws.NewID(), ""
		}
	}
	st.Latest = e.At
	if st.Operation != nil {
		e.Token, e.Operation = st.Operation.Token, st.Operation.ID
	}
	st.Events++
	k.put(st.eventKey(st.Events), e)
}

// status changes the status of a stack and adds an event.
func (k *keeper) status(st *stack, status, reason string) {
	st.Status, st.Reason = status, reason
	k.event(st, event{LogicalID: st.Name, Physical: st.ID, Type: stackType, Status: status, Reason: reason})
	k.stack(st)
}

// progress changes the status of a resource and adds an event.
func (k *keeper) progress(st *stack, r *record, status, reason string) {
	k.progressOf(st, r, r.Physical, status, reason)
}

// progressOf does the same as progress, but the event names a different physical resource.
func (k *keeper) progressOf(st *stack, r *record, physical, status, reason string) {
	r.Status, r.Reason, r.Updated = status, reason, k.s.now().UnixMilli()
	e := event{LogicalID: r.ID, Physical: physical, Type: r.Type, Status: status, Reason: reason}
	if text, err := json.Marshal(r.Properties); err == nil && !r.NoEcho {
		e.Properties = string(text)
	}
	k.event(st, e)
	k.resource(st, r)
	k.stack(st)
}

// find returns a stack by its name or ID. A name finds only a stack that is not deleted. The caller holds mu.
func (s *Service) find(scope aws.Scope, name string) (*stack, error) {
	if strings.HasPrefix(name, "arn:") {
		if st := s.stacks[name]; st != nil && st.scope() == scope {
			return st, nil
		}
		return nil, invalid("Stack with id %s does not exist", name)
	}
	for _, st := range s.stacks {
		if st.Name == name && st.scope() == scope && !st.gone() {
			return st, nil
		}
	}
	return nil, invalid("Stack with id %s does not exist", name)
}

// snapshot returns a stack and a copy of its present state. What is computed without holding mu must use the copy,
// because another operation may start in the meantime; start then returns an error.
func (s *Service) snapshot(scope aws.Scope, name string) (st, now *stack, err error) {
	s.mu.Lock()
	defer s.mu.Unlock()
	if st, err = s.find(scope, name); err != nil {
		return nil, nil, err
	}
	return st, st.copied(), nil
}

// copied returns a copy of the stack, including its resources. The caller holds mu.
func (st *stack) copied() *stack {
	now := *st
	now.resources = make(map[string]*record, len(st.resources))
	for id, r := range st.resources {
		one := *r
		now.resources[id] = &one
	}
	return &now
}

// all returns the stacks of a scope, the newest first. The caller holds mu.
func (s *Service) all(scope aws.Scope) []*stack {
	var list []*stack
	for _, st := range s.stacks {
		if st.scope() == scope {
			list = append(list, st)
		}
	}
	sort.Slice(list, func(i, j int) bool {
		if list[i].Created != list[j].Created {
			return list[i].Created > list[j].Created
		}
		return list[i].ID > list[j].ID
	})
	return list
}

func instant(ms int64) time.Time { return time.UnixMilli(ms).UTC() }
