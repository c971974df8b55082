package functions

import (
	"maps"
	"slices"
)

// record is a function as it is stored. It is immutable: a change creates a new one.
type record struct {
	Latest   Configuration
	Versions []Configuration `json:",omitempty"` // published versions, oldest first
	// Published is the number of the last published version, which may have been deleted since.
	Published int
	// PublishedFrom is the revision that $LATEST had when the last version was published.
	PublishedFrom string            `json:",omitempty"`
	Aliases       map[string]Alias  `json:",omitempty"`
	Reserved      *int              `json:",omitempty"` // reserved concurrency
	Tags          map[string]string `json:",omitempty"`
	// Policies holds the policies of the function (""), its versions and its aliases, by qualifier.
	Policies map[string]*policy `json:",omitempty"`
	// EventInvoke holds the configurations of asynchronous invocations, by qualifier.
	EventInvoke map[string]EventInvokeConfig `json:",omitempty"`
	// URLs and Provisioned hold the settings of the function (""), its versions and its aliases, by qualifier.
	URLs        map[string]URLConfig         `json:",omitempty"`
	Provisioned map[string]ProvisionedConfig `json:",omitempty"`
	// Runtime determines when runtimes are updated, by qualifier. Recursion determines how recursive loops are
	// treated.
	Runtime   map[string]RuntimeManagement `json:",omitempty"`
	Recursion string                       `json:",omitempty"`
	// BuiltIn names code that is part of the program. Binary is the path of a bootstrap, and Folder that of a directory
	// with code. Versions without a code hash run one of the three.
	BuiltIn string `json:",omitempty"`
	Binary  string `json:",omitempty"`
	Folder  string `json:",omitempty"`
}

// Alias is an alias of a version, as the API returns it (AliasConfiguration in Lambda's model).
type Alias struct {
	AliasArn        string
	Name            string
	FunctionVersion string
	Description     string
	RoutingConfig   *RoutingConfig `json:",omitempty"`
	RevisionID      string         `json:"RevisionId"`
}

// RoutingConfig routes shares of an alias's invocations, each between 0 and 1, to other versions.
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

// forget deletes the settings of a version or alias that is being removed.
func (r *record) forget(qualifier string) {
	delete(r.Policies, qualifier)
	delete(r.EventInvoke, qualifier)
	delete(r.URLs, qualifier)
	delete(r.Provisioned, qualifier)
}

// version returns a version, or the version that an alias points at.
func (r *record) version(qualifier string) (*Configuration, bool) {
	if a, ok := r.Aliases[qualifier]; ok {
		qualifier = a.FunctionVersion
	}
	if qualifier == "" {
		return &r.Latest, true
	}
	return r.numbered(qualifier)
}

// numbered returns $LATEST or a published version.
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

// all returns the versions, $LATEST first.
func (r *record) all() []Configuration { return append([]Configuration{r.Latest}, r.Versions...) }

// codes returns the hashes of the code that the versions need.
func (r *record) codes() map[string]bool {
	used := map[string]bool{}
	for _, c := range r.all() {
		if c.CodeSha256 != "" { // not built in
			used[c.CodeSha256] = true
		}
	}
	return used
}
