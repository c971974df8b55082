package functions

import (
	"maps"
	"slices"
)

// record is all that is kept of a function. It is never changed: whoever changes a function makes a new one.
type record struct {
	Latest   Configuration
	Versions []Configuration `json:",omitempty"` // the published ones, oldest first
	// Published is the number of the version published last, which may have been deleted since.
	Published int
	// PublishedFrom is the revision that $LATEST had then.
	PublishedFrom string            `json:",omitempty"`
	Aliases       map[string]Alias  `json:",omitempty"`
	Reserved      *int              `json:",omitempty"` // concurrency
	Tags          map[string]string `json:",omitempty"`
	// Policies are those of the function ("") and of its versions and aliases, by qualifier.
	Policies map[string]*policy `json:",omitempty"`
	// EventInvoke is how asynchronous invocations are handled, by qualifier.
	EventInvoke map[string]EventInvokeConfig `json:",omitempty"`
	// URLs and Provisioned are those of the function ("") and of its versions and aliases, by qualifier.
	URLs        map[string]URLConfig         `json:",omitempty"`
	Provisioned map[string]ProvisionedConfig `json:",omitempty"`
	// Runtime is when runtimes are brought up to date, by qualifier; Recursion what becomes of recursive loops.
	Runtime   map[string]RuntimeManagement `json:",omitempty"`
	Recursion string                       `json:",omitempty"`
	// BuiltIn names code that is part of the program, Binary is the path of a bootstrap; versions without a hash of
	// their code run it.
	BuiltIn string `json:",omitempty"`
	Binary  string `json:",omitempty"`
}

// Alias is a name for a version, as the API shows it (AliasConfiguration in Lambda's model).
type Alias struct {
	AliasArn        string
	Name            string
	FunctionVersion string
	Description     string
	RoutingConfig   *RoutingConfig `json:",omitempty"`
	RevisionID      string         `json:"RevisionId"`
}

// RoutingConfig sends shares of an alias's invocations, from 0 to 1, to other versions.
type RoutingConfig struct{ AdditionalVersionWeights map[string]float64 }

func (r *record) clone() *record {
	c := *r
	c.Versions = slices.Clone(r.Versions)
	c.Aliases = maps.Clone(r.Aliases)
	c.Tags = maps.Clone(r.Tags)
	c.Policies = maps.Clone(r.Policies)
	c.EventInvoke = maps.Clone(r.EventInvoke)
	c.URLs = maps.Clone(r.URLs)
	c.Provisioned = maps.Clone(r.Provisioned)
	return &c
}

// forget drops what is kept beside a version or alias that goes.
func (r *record) forget(qualifier string) {
	delete(r.Policies, qualifier)
	delete(r.EventInvoke, qualifier)
	delete(r.URLs, qualifier)
	delete(r.Provisioned, qualifier)
}

// version finds a version, or the version that an alias stands for.
func (r *record) version(qualifier string) (*Configuration, bool) {
	if a, ok := r.Aliases[qualifier]; ok {
		qualifier = a.FunctionVersion
	}
	if qualifier == "" {
		return &r.Latest, true
	}
	return r.numbered(qualifier)
}

// numbered finds $LATEST or a published version.
func (r *record) numbered(version string) (*Configuration, bool) {
	if version == r.Latest.Version {
		return &r.Latest, true
	}
	i := slices.IndexFunc(r.Versions, func(c Configuration) bool { return c.Version == version })
	if i < 0 {
		return nil, false
	}
	return &r.Versions[i], true
}

// all are the versions, $LATEST first.
func (r *record) all() []Configuration { return append([]Configuration{r.Latest}, r.Versions...) }

// codes are the hashes of the code that the versions need.
func (r *record) codes() map[string]bool {
	used := map[string]bool{}
	for _, c := range r.all() {
		if c.CodeSha256 != "" { // it is not built in
			used[c.CodeSha256] = true
		}
	}
	return used
}
