package s3

import (
	"encoding/xml"
	"errors"
	"io"
	"slices"
	"strings"
	"time"

	"stepback/aws"
)

// lifecycleRule is a rule of a bucket's lifecycle configuration. It has only the members that are implemented.
type lifecycleRule struct {
	ID     string
	Status string
	Prefix *string // of legacy rules without a Filter
	Filter *struct {
		Prefix string
		Tag    *tag
		Over   *int64 `xml:"ObjectSizeGreaterThan"`
		Under  *int64 `xml:"ObjectSizeLessThan"`
		And    *struct {
			Prefix string
			Tag    []tag
			Over   *int64 `xml:"ObjectSizeGreaterThan"`
			Under  *int64 `xml:"ObjectSizeLessThan"`
		}
	}
	Expiration *struct {
		Days    int  `xml:"-"`
		DaysSet *int `xml:"Days"`
		Date    string
		Marker  bool `xml:"ExpiredObjectDeleteMarker"`
	}
	Noncurrent *struct {
		Days  int  `xml:"NoncurrentDays"`
		Newer *int `xml:"NewerNoncurrentVersions"`
	} `xml:"NoncurrentVersionExpiration"`
	Abort *struct {
		Days int `xml:"DaysAfterInitiation"`
	} `xml:"AbortIncompleteMultipartUpload"`
	Transition []transition `xml:"Transition"`
	Demotion   []transition `xml:"NoncurrentVersionTransition"`
}

// transition moves a version to another storage class.
type transition struct {
	Days       *int
	Noncurrent *int `xml:"NoncurrentDays"`
	Newer      *int `xml:"NewerNoncurrentVersions"`
	Date       string
	Class      string `xml:"StorageClass"`
}

type lifecycle struct {
	Rules []lifecycleRule `xml:"Rule"`
}

func parseLifecycle(text string) (l lifecycle, err error) {
	err = xml.Unmarshal([]byte(text), &l)
	for _, r := range l.Rules {
		if r.Expiration != nil && r.Expiration.DaysSet != nil {
			r.Expiration.Days = *r.Expiration.DaysSet
		}
	}
	return l, err
}

func checkLifecycle(_ *store, _ *call, text []byte) error {
	l, err := parseLifecycle(string(text))
	if err != nil || len(l.Rules) == 0 {
		return malformedXML()
	}
	const most = 1000
	if len(l.Rules) > most {
		return malformedXML()
	}
	seen := map[string]bool{}
	for _, r := range l.Rules {
		switch {
		case r.Status != "Enabled" && r.Status != "Disabled":
			return malformedXML()
		case r.ID != "" && seen[r.ID]:
			return fail("InvalidArgument", "Rule ID must be unique. Found same ID for more than one rule", nil)
		case len(r.ID) > mostRuleID:
			return fail("InvalidArgument", "ID length should not exceed allowed limit of 255", nil)
		case r.Expiration != nil && r.Expiration.Days < 0:
			return fail("InvalidArgument", "'Days' for Expiration action must be a positive integer", nil)
		}
		if err := r.check(); err != nil {
			return err
		}
		seen[r.ID] = true
	}
	return nil
}

// withRuleIDs returns a lifecycle configuration with an ID for each rule that has none.
func withRuleIDs(text string) (string, error) {
	const rule = 2 // depth of its element
	var out strings.Builder
	d := xml.NewDecoder(strings.NewReader(text))
	written, begun, depth, named := int64(0), int64(0), 0, false
	for {
		token, err := d.Token()
		if errors.Is(err, io.EOF) {
			return out.String() + text[written:], nil
		}
		if err != nil {
			return "", err
		}
		switch t := token.(type) {
		case xml.StartElement:
			switch depth++; {
			case depth == rule && t.Name.Local == "Rule":
				begun, named = d.InputOffset(), false
			case depth == rule+1 && t.Name.Local == "ID":
				named = true
			}
		case xml.EndElement:
			if depth == rule && t.Name.Local == "Rule" && !named {
				out.WriteString(text[written:begun] + "<ID>" + aws.NewID() + "</ID>")
				written = begun
			}
			depth--
		}
	}
}

// mostRuleID is the maximum length of a rule's ID.
const mostRuleID = 255

// check returns the error of a rule's actions.
func (r *lifecycleRule) check() error {
	e := r.Expiration
	switch {
	case (r.Filter == nil) == (r.Prefix == nil): // one of them is required
		return malformedXML()
	case e != nil && e.Date != "" && (e.DaysSet != nil || e.Marker), e != nil && e.DaysSet != nil && e.Marker:
		return malformedXML()
	case e != nil && e.DaysSet != nil && *e.DaysSet == 0:
		return fail("InvalidArgument", "'Days' for Expiration action must be a positive integer", nil)
	case e != nil && e.Date != "" && !isMidnight(e.Date):
		return fail("InvalidArgument", "'Date' must be at midnight GMT", nil)
	case r.Noncurrent != nil && r.Noncurrent.Days <= 0:
		return fail(
			"InvalidArgument",
			"'NoncurrentDays' for NoncurrentVersionExpiration action must be a positive integer",
			nil,
		)
	case e == nil && r.Noncurrent == nil && r.Abort == nil && len(r.Transition) == 0 && len(r.Demotion) == 0:
		return fail("InvalidRequest", "At least one action needs to be specified in a rule", nil)
	}
	for _, t := range append(r.Transition[:len(r.Transition):len(r.Transition)], r.Demotion...) {
		if !slices.Contains(storageClasses, t.Class) || t.Class == standard || t.Class == "REDUCED_REDUNDANCY" {
			return malformedXML()
		}
		if t.Date != "" && !isMidnight(t.Date) {
			return fail("InvalidArgument", "'Date' must be at midnight GMT", nil)
		}
	}
	return nil
}

// isMidnight reports whether a text is a time at midnight UTC.
func isMidnight(text string) bool {
	at, err := parseDate(text)
	return err == nil && at.Equal(at.UTC().Truncate(day))
}

const day = 24 * time.Hour

// parseDate parses a date of a rule.
func parseDate(text string) (time.Time, error) {
	at, err := time.Parse(time.RFC3339, text)
	if err != nil {
		at, err = time.Parse(time.DateOnly, text)
	}
	return at, err
}

// appliesTo reports whether the rule applies to an object.
func (r *lifecycleRule) appliesTo(key string, size int64, tags []tag) bool {
	prefix, wanted, over, under := "", []tag(nil), (*int64)(nil), (*int64)(nil)
	if r.Prefix != nil {
		prefix = *r.Prefix
	}
	if f := r.Filter; f != nil {
		prefix, over, under = f.Prefix, f.Over, f.Under
		if f.Tag != nil {
			wanted = []tag{*f.Tag}
		}
		if f.And != nil {
			prefix, wanted, over, under = f.And.Prefix, f.And.Tag, f.And.Over, f.And.Under
		}
	}
	for _, w := range wanted {
		found := false
		for _, t := range tags {
			found = found || t == w
		}
		if !found {
			return false
		}
	}
	return r.Status == "Enabled" && strings.HasPrefix(key, prefix) && (over == nil || size > *over) &&
		(under == nil || size < *under)
}

// due reports whether an object that was last modified at the time modified has expired at the time now. As in S3,
// days are rounded up to the next midnight UTC.
func (r *lifecycleRule) due(modified, now time.Time) bool {
	e := r.Expiration
	if e == nil {
		return false
	}
	if e.Date != "" {
		date, err := parseDate(e.Date)
		return err == nil && !now.Before(date)
	}
	return e.Days > 0 && !now.Before(midnightAfter(modified, e.Days))
}

// midnightAfter returns the first midnight UTC that is at least days after at.
func midnightAfter(at time.Time, days int) time.Time {
	old := at.UTC().Add(time.Duration(days) * day)
	if midnight := old.Truncate(day); midnight.Before(old) {
		return midnight.Add(day)
	}
	return old
}

// Expire deletes the objects that have expired under the lifecycles of their buckets.
func (s *Server) Expire(now time.Time) error { return s.store.expire(now) }

func (s *store) expire(now time.Time) error {
	buckets, err := s.buckets()
	if err != nil {
		return err
	}
	for _, b := range buckets {
		all, err := s.settingsOf(b.name)
		if err != nil {
			return err
		}
		text := all["lifecycle"]
		if text == "" {
			continue
		}
		l, err := parseLifecycle(text)
		if err != nil {
			return err
		}
		if err := s.expireIn(b.name, l, now); err != nil {
			return err
		}
	}
	return nil
}

// expireIn applies the rules of a bucket to its objects.
func (s *store) expireIn(bucket string, l lifecycle, now time.Time) error {
	var gone []string
	moved := map[string]string{} // storage classes, by key
	w := walker{visit: func(key, path string) (bool, error) {
		v, err := s.content(bucket, key, path)
		if err != nil || v == nil {
			return true, err
		}
		for i := range l.Rules {
			r := &l.Rules[i]
			if !r.appliesTo(key, v.Size, v.Tags) {
				continue
			}
			if r.due(v.Modified, now) {
				gone = append(gone, key)
				break
			}
			if to := r.classAt(v.Modified, now); to != "" && to != class(v) {
				moved[key] = to
			}
		}
		return true, nil
	}}
	if _, err := w.dir(s.bucketDir(bucket), ""); err != nil {
		return err
	}
	for _, key := range gone {
		delete(moved, key)
		if _, err := s.deleteLatest(bucket, key, nil); err != nil {
			return err
		}
	}
	for key, to := range moved {
		_, err := s.changeVersion(bucket, key, "", func(v *version) error { v.StorageClass = to; return nil })
		if err != nil && !isCode(err, "NoSuchKey") {
			return err
		}
	}
	return errors.Join(s.expireOld(bucket, l, now), s.expireUploads(bucket, l, now))
}

// classAt returns the storage class that the transitions of a rule require at the time now; empty for none.
func (r *lifecycleRule) classAt(modified, now time.Time) (class string) {
	var since time.Time
	for _, t := range r.Transition {
		at := modified
		switch {
		case t.Date != "":
			var err error
			if at, err = parseDate(t.Date); err != nil {
				continue
			}
		case t.Days != nil && *t.Days > 0:
			at = midnightAfter(modified, *t.Days)
		}
		if !now.Before(at) && (class == "" || at.After(since)) {
			class, since = t.Class, at
		}
	}
	return class
}

// expireOld applies the rules to noncurrent versions and to delete markers.
func (s *store) expireOld(bucket string, l lifecycle, now time.Time) error {
	all, err := s.shelves(bucket)
	if err != nil {
		return err
	}
	for _, h := range all {
		current, err := s.current(bucket, h.Key)
		if err != nil {
			return err
		}
		for i := range h.Entries {
			if err := s.expireEntry(bucket, l, &h, i, current, now); err != nil {
				return err
			}
		}
	}
	return nil
}

// expireEntry applies the rules to one entry of a shelf, of which newer ones are noncurrent, too.
func (s *store) expireEntry(bucket string, l lifecycle, h *shelf, i int, current *version, now time.Time) error {
	e := &h.Entries[i]
	if i == 0 && current == nil { // a delete marker that is the latest version
		for k := range l.Rules {
			r := &l.Rules[k]
			if x := r.Expiration; e.Marker && len(h.Entries) == 1 && x != nil && r.appliesTo(h.Key, 0, nil) &&
				(x.Marker || x.Days > 0 && r.due(e.Modified, now)) {
				_, err := s.DeleteObjectVersion(bucket, h.Key, e.ID, nil)
				return err
			}
		}
		return nil
	}
	newer := i
	if current == nil {
		newer-- // the latest version is an entry
	}
	var since time.Time
	if i > 0 {
		since = h.Entries[i-1].Modified
	} else {
		since = current.Modified
	}
	for k := range l.Rules {
		r := &l.Rules[k]
		if !r.appliesTo(h.Key, e.Size, e.Tags) {
			continue
		}
		if n := r.Noncurrent; n != nil && n.Days > 0 && !now.Before(midnightAfter(since, n.Days)) && (n.Newer == nil ||
			newer >= *n.Newer) {
			_, err := s.DeleteObjectVersion(bucket, h.Key, e.ID, func(v *version) error {
				return v.removable(now,
					false)
			})
			if isCode(err, "AccessDenied") { // a lock protects it
				err = nil
			}
			return err
		}
		for _, t := range r.Demotion {
			if t.Noncurrent != nil && !e.Marker && t.Class != class(&e.version) && !now.Before(midnightAfter(since,
				*t.Noncurrent)) &&
				(t.Newer == nil || newer >= *t.Newer) {
				if _, err := s.changeVersion(bucket, h.Key, shownID(e.ID),
					func(v *version) error { v.StorageClass = t.Class; return nil }); err != nil {
					return err
				}
			}
		}
	}
	return nil
}

// expireUploads aborts multipart uploads that were started long enough ago.
func (s *store) expireUploads(bucket string, l lifecycle, now time.Time) error {
	all, err := s.uploads(bucket, "")
	if err != nil {
		return err
	}
	for _, u := range all {
		for _, r := range l.Rules {
			if r.Abort != nil && r.Abort.Days > 0 && r.appliesTo(u.Key, 0, u.Tags) &&
				!now.Before(midnightAfter(u.Initiated, r.Abort.Days)) {
				if err := s.AbortMultipartUpload(bucket, u.Key, u.ID); err != nil {
					return err
				}
				break
			}
		}
	}
	return nil
}
