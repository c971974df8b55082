package s3

import (
	"encoding/xml"
	"errors"
	"strings"
	"time"

	"github.com/johannesboyne/gofakes3"

	"stepback/aws"
)

// lifecycleRule is a rule of a bucket's lifecycle configuration. It has only the members that are implemented.
type lifecycleRule struct {
	ID     string
	Status string
	Prefix string // of legacy rules without a Filter
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
		Days   int
		Date   string
		Marker bool `xml:"ExpiredObjectDeleteMarker"`
	}
	Noncurrent *struct {
		Days  int  `xml:"NoncurrentDays"`
		Newer *int `xml:"NewerNoncurrentVersions"`
	} `xml:"NoncurrentVersionExpiration"`
	Abort *struct {
		Days int `xml:"DaysAfterInitiation"`
	} `xml:"AbortIncompleteMultipartUpload"`
	Transition []struct{} `xml:"Transition"`
}

type lifecycle struct {
	Rules []lifecycleRule `xml:"Rule"`
}

func parseLifecycle(text string) (l lifecycle, err error) { return l, xml.Unmarshal([]byte(text), &l) }

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
			return &aws.Error{Code: "InvalidArgument", Message: "Rule ID must be unique. Found same ID for more than one rule"}
		case len(r.Transition) > 0:
			return notImplemented("Transitions to other storage classes (Transition) are not served here.")
		case r.Noncurrent != nil && r.Noncurrent.Newer != nil:
			return notImplemented("Lifecycles that keep a number of old versions (NewerNoncurrentVersions) are not served here.")
		case r.Expiration != nil && r.Expiration.Marker:
			return notImplemented("Lifecycles of delete markers (ExpiredObjectDeleteMarker) are not served here.")
		case r.Expiration != nil && r.Expiration.Days < 0:
			return &aws.Error{Code: "InvalidArgument",
				Message: "'Days' for Expiration action must be a positive integer"}
		}
		if r.Expiration != nil && r.Expiration.Date != "" {
			if _, err := time.Parse(time.RFC3339, r.Expiration.Date); err != nil {
				return malformedXML()
			}
		}
		seen[r.ID] = true
	}
	return nil
}

// appliesTo reports whether the rule applies to an object.
func (r *lifecycleRule) appliesTo(key string, size int64, tags []tag) bool {
	prefix, wanted, over, under := r.Prefix, []tag(nil), (*int64)(nil), (*int64)(nil)
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
		date, err := time.Parse(time.RFC3339, e.Date)
		return err == nil && !now.Before(date)
	}
	return e.Days > 0 && !now.Before(midnightAfter(modified, e.Days))
}

// midnightAfter returns the first midnight UTC that is at least days after at.
func midnightAfter(at time.Time, days int) time.Time {
	const day = 24 * time.Hour
	old := at.UTC().Add(time.Duration(days) * day)
	if midnight := old.Truncate(day); midnight.Before(old) {
		return midnight.Add(day)
	}
	return old
}

// Expire deletes the objects that have expired under the lifecycles of their buckets.
func (s *Server) Expire(now time.Time) error { return s.store.expire(now) }

func (s *store) expire(now time.Time) error {
	buckets, err := s.ListBuckets()
	if err != nil {
		return err
	}
	for _, b := range buckets {
		all, err := s.settingsOf(b.Name)
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
		if err := s.expireIn(b.Name, l, now); err != nil {
			return err
		}
	}
	return nil
}

// expireIn deletes the expired objects of a bucket.
func (s *store) expireIn(bucket string, l lifecycle, now time.Time) error {
	type doomed struct {
		key      string
		modified time.Time
	}
	var keys []doomed
	w := walker{visit: func(key, path string) (bool, error) {
		content, err := s.content(bucket, key, path)
		if err != nil || content == nil {
			return true, err
		}
		record, err := s.readRecord(bucket, key)
		if err != nil {
			return false, err
		}
		var tags []tag
		if len(record.Versions) > 0 {
			tags = record.Versions[0].Tags
		}
		for _, r := range l.Rules {
			if r.appliesTo(key, content.Size, tags) && r.due(content.LastModified.Time, now) {
				keys = append(keys, doomed{key, content.LastModified.Time})
				break
			}
		}
		return true, nil
	}}
	if _, err := w.dir(s.bucketDir(bucket), ""); err != nil {
		return err
	}
	for _, k := range keys {
		if _, err := s.DeleteObject(bucket, k.key); err != nil {
			return err
		}
	}
	return errors.Join(s.expireOld(bucket, l, now), s.expireUploads(bucket, l, now))
}

// expireOld deletes versions that have been noncurrent for long enough.
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
		for i, e := range h.Entries {
			next := current
			if i > 0 {
				next = &h.Entries[i-1].version
			}
			if next == nil {
				continue // a delete marker that is the latest version
			}
			for _, r := range l.Rules {
				if r.Noncurrent != nil && r.Noncurrent.Days > 0 && r.appliesTo(h.Key, e.Size, e.Tags) &&
					!now.Before(midnightAfter(next.Modified, r.Noncurrent.Days)) {
					if _, err := s.DeleteObjectVersion(bucket, h.Key, gofakes3.VersionID(shownID(e.ID))); err != nil {
						return err
					}
					break
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
