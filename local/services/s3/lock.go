package s3

import (
	"encoding/xml"
	"net/http"
	"strings"
	"time"
)

// lockSetting is the name of a bucket's setting for object lock.
const lockSetting = "object-lock"

// The modes of a retention.
const (
	governance = "GOVERNANCE"
	compliance = "COMPLIANCE"
)

const (
	lockPrefix = "X-Amz-Object-Lock-"
	holdOn     = "ON"
	holdOff    = "OFF"
)

// retention keeps a version from being deleted.
type retention struct {
	Mode  string    `json:"mode"`
	Until time.Time `json:"until"`
}

// lockConfiguration is the XML of a bucket's object lock.
type lockConfiguration struct {
	XMLName xml.Name  `xml:"ObjectLockConfiguration"`
	Xmlns   string    `xml:"xmlns,attr,omitempty"`
	Enabled string    `xml:"ObjectLockEnabled,omitempty"`
	Rule    *lockRule `xml:",omitempty"`
}

type lockRule struct {
	Default *struct {
		Mode  string
		Days  *int `xml:",omitempty"`
		Years *int `xml:",omitempty"`
	} `xml:"DefaultRetention"`
}

// retentionElement and holdElement are the XML of a version's retention and legal hold.
type retentionElement struct {
	XMLName xml.Name `xml:"Retention"`
	Xmlns   string   `xml:"xmlns,attr,omitempty"`
	Mode    string   `xml:",omitempty"`
	Until   string   `xml:"RetainUntilDate,omitempty"`
}

type holdElement struct {
	XMLName xml.Name `xml:"LegalHold"`
	Xmlns   string   `xml:"xmlns,attr,omitempty"`
	Status  string
}

// lockOf returns the object lock of a bucket; nil if it has none.
func (s *store) lockOf(bucket string) (*lockConfiguration, error) {
	all, err := s.settingsOf(bucket)
	if err != nil || all[lockSetting] == "" {
		return nil, s.storageError(err)
	}
	l, err := parseSetting[lockConfiguration](s, all, lockSetting)
	return l, s.storageError(err)
}

func (s *store) getObjectLock(c *call) (any, error) {
	all, err := s.settingsOf(c.bucket)
	if err != nil {
		return nil, s.storageError(err)
	}
	if all[lockSetting] == "" {
		return nil, fail(
			"ObjectLockConfigurationNotFoundError",
			"Object Lock configuration does not exist for this bucket",
			members{"BucketName": c.bucket},
		)
	}
	return rawXML(all[lockSetting]), nil
}

func (s *store) putObjectLock(c *call) (any, error) {
	text, err := c.message(mostSetting)
	if err != nil {
		return nil, err
	}
	var in lockConfiguration
	if xml.Unmarshal(text, &in) != nil || in.Enabled != versionsEnabled {
		return nil, malformedXML()
	}
	status, err := s.versioningOf(c.bucket)
	if err != nil {
		return nil, s.storageError(err)
	}
	if status != versionsEnabled {
		return nil, fail(
			"InvalidBucketState",
			"Versioning must be 'Enabled' on the bucket to apply a Object Lock configuration",
			nil,
		)
	}
	if r := in.Rule; r != nil {
		d := r.Default
		switch {
		case d == nil, d.Mode != governance && d.Mode != compliance, d.Days == nil && d.Years == nil, d.Days != nil &&
			d.Years != nil:
			return nil, malformedXML()
		}
		argument := members{"ArgumentName": "Days"}
		if d.Years != nil {
			argument["ArgumentName"] = "Years"
		}
		switch {
		case d.Days != nil && *d.Days <= 0, d.Years != nil && *d.Years <= 0:
			return nil, fail("InvalidArgument", "Default retention period must be a positive integer value.", argument)
		case d.Days != nil && *d.Days > mostRetained*daysOfYear, d.Years != nil && *d.Years > mostRetained:
			return nil, fail("InvalidArgument", "Default retention period is too large", argument)
		}
	}
	kept, err := withNamespace(text, "ObjectLockConfiguration")
	if err != nil {
		return nil, malformedXML()
	}
	return nil, s.changeSettings(c.bucket, map[string]string{lockSetting: kept})
}

// mostRetained is the longest default retention, in years.
const (
	mostRetained = 100
	daysOfYear   = 365
)

// requestedLock returns the retention and legal hold of a new object: those in its headers, or the bucket's default.
func (s *store) requestedLock(c *call) (r *retention, hold bool, err error) {
	mode, until, held := c.Header.Get(
		lockPrefix+"Mode",
	), c.Header.Get(
		lockPrefix+"Retain-Until-Date",
	), c.Header.Get(
		lockPrefix+"Legal-Hold",
	)
	lock, err := s.lockOf(c.bucket)
	if err != nil {
		return nil, false, err
	}
	if (mode != "" || until != "" || held != "") && lock == nil {
		return nil, false, fail("InvalidRequest", "Bucket is missing Object Lock Configuration", nil)
	}
	if held != "" && held != holdOn && held != holdOff {
		return nil, false, invalidArgument(
			"x-amz-object-lock-legal-hold",
			held,
			"Legal Hold must be either of 'ON' or 'OFF'",
		)
	}
	if mode != "" || until != "" {
		r, err = s.parseRetention(mode, until)
		return r, held == holdOn, err
	}
	if lock != nil && lock.Rule != nil && lock.Rule.Default != nil {
		d, at := lock.Rule.Default, s.stamps.now().UTC()
		if d.Days != nil {
			at = at.AddDate(0, 0, *d.Days)
		} else if d.Years != nil {
			at = at.AddDate(*d.Years, 0, 0)
		}
		r = &retention{d.Mode, at.Truncate(time.Millisecond)}
	}
	return r, held == holdOn, nil
}

func (s *store) parseRetention(mode, until string) (*retention, error) {
	switch {
	case mode == "" || until == "":
		return nil, fail(
			"InvalidArgument",
			"x-amz-object-lock-retain-until-date and x-amz-object-lock-mode must both be supplied",
			nil,
		)
	case mode != governance && mode != compliance:
		return nil, invalidArgument("x-amz-object-lock-mode", mode, "Unknown wormMode directive.")
	}
	at, err := time.Parse(time.RFC3339, until)
	if err != nil {
		return nil, invalidArgument(
			"x-amz-object-lock-retain-until-date",
			until,
			"The retain until date must be provided in ISO 8601 format",
		)
	}
	if !at.After(s.stamps.now()) {
		return nil, invalidArgument(
			"x-amz-object-lock-retain-until-date",
			until,
			"The retain until date must be in the future!",
		)
	}
	return &retention{mode, at.UTC().Truncate(time.Millisecond)}, nil // as it is shown
}

// showLock adds the headers of a version's lock to a response.
func (v *version) showLock(h http.Header) {
	if v.Retention != nil {
		h.Set(lockPrefix+"Mode", v.Retention.Mode)
		h.Set(lockPrefix+"Retain-Until-Date", shownTime(v.Retention.Until))
	}
	if v.LegalHold {
		h.Set(lockPrefix+"Legal-Hold", holdOn)
	}
}

// removable returns an error if a lock keeps a version from being deleted.
func (v *version) removable(now time.Time, bypass bool) error {
	if v == nil {
		return nil
	}
	protected := v.Retention != nil && now.Before(v.Retention.Until) && (v.Retention.Mode == compliance || !bypass)
	if v.LegalHold || protected {
		return fail("AccessDenied", "Access Denied because object protected by object lock.", nil)
	}
	return nil
}

// requireLock returns an error if a bucket has no object lock.
func (s *store) requireLock(bucket string) error {
	lock, err := s.lockOf(bucket)
	if err == nil && lock == nil {
		err = fail("InvalidRequest", "Bucket is missing Object Lock Configuration", nil)
	}
	return err
}

func (s *store) getRetention(c *call) (any, error) {
	if err := s.requireLock(c.bucket); err != nil {
		return nil, err
	}
	v, err := s.describeVersion(c.bucket, c.key, c.query.Get("versionId"))
	switch {
	case err != nil:
		return nil, err
	case v.Retention == nil:
		return nil, fail(
			"NoSuchObjectLockConfiguration",
			"The specified object does not have a ObjectLock configuration",
			nil,
		)
	}
	return retentionElement{
		Xmlns: namespace,
		Mode:  v.Retention.Mode,
		Until: shownTime(v.Retention.Until),
	}, nil
}

func (s *store) putRetention(c *call) (any, error) {
	if err := s.requireLock(c.bucket); err != nil {
		return nil, err
	}
	var in retentionElement
	if err := c.decode(&in); err != nil {
		return nil, err
	}
	var wanted *retention
	if in.Mode != "" || in.Until != "" {
		if in.Mode != governance && in.Mode != compliance || in.Until == "" {
			return nil, malformedXML()
		}
		var err error
		if wanted, err = s.parseRetention(in.Mode, strings.TrimSpace(in.Until)); err != nil {
			return nil, err
		}
	}
	bypass := c.truth("X-Amz-Bypass-Governance-Retention")
	v, err := s.changeVersion(c.bucket, c.key, c.query.Get("versionId"), func(v *version) error {
		if !v.mayRetain(wanted, s.stamps.now(), bypass) {
			return fail("AccessDenied", "Access Denied because object protected by object lock.", nil)
		}
		v.Retention = wanted
		return nil
	})
	if err != nil {
		return nil, err
	}
	c.showVersion(&v)
	return nil, nil
}

// mayRetain reports whether the retention of a version may be replaced: a running one may only become longer, unless it
// is one of governance mode that the caller bypasses.
func (v *version) mayRetain(wanted *retention, now time.Time, bypass bool) bool {
	old := v.Retention
	if old == nil || !now.Before(old.Until) {
		return true
	}
	longer := wanted != nil && !wanted.Until.Before(old.Until)
	if old.Mode == compliance {
		return longer && wanted.Mode == compliance
	}
	return bypass || longer && wanted.Mode == governance
}

func (s *store) getLegalHold(c *call) (any, error) {
	if err := s.requireLock(c.bucket); err != nil {
		return nil, err
	}
	v, err := s.describeVersion(c.bucket, c.key, c.query.Get("versionId"))
	if err != nil {
		return nil, err
	}
	status := holdOff
	if v.LegalHold {
		status = holdOn
	}
	return holdElement{Xmlns: namespace, Status: status}, nil
}

func (s *store) putLegalHold(c *call) (any, error) {
	if err := s.requireLock(c.bucket); err != nil {
		return nil, err
	}
	var in holdElement
	if err := c.decode(&in); err != nil {
		return nil, err
	}
	if in.Status != holdOn && in.Status != holdOff {
		return nil, malformedXML()
	}
	v, err := s.changeVersion(c.bucket, c.key, c.query.Get("versionId"), func(v *version) error {
		v.LegalHold = in.Status == holdOn
		return nil
	})
	if err != nil {
		return nil, err
	}
	c.showVersion(&v)
	return nil, nil
}

// restoreRequest is the XML of RestoreObject.
type restoreRequest struct {
	XMLName xml.Name `xml:"RestoreRequest"`
	Days    int
	Type    string
}

// restoreObject implements RestoreObject: an archived object can be read at once, for as long as requested.
func (s *store) restoreObject(c *call) (any, error) {
	var in restoreRequest
	if err := c.decode(&in); err != nil {
		return nil, err
	}
	if in.Type != "" {
		return nil, notImplemented("Restorations that select content (Type SELECT) are not served here.")
	}
	if in.Days <= 0 {
		return nil, malformedXML()
	}
	restored := false
	v, err := s.changeVersion(c.bucket, c.key, c.query.Get("versionId"), func(v *version) error {
		if v.StorageClass != "GLACIER" && v.StorageClass != "DEEP_ARCHIVE" {
			return fail(
				"InvalidObjectState",
				"Restore is not allowed for the object's current storage class",
				members{"StorageClass": class(v)},
			)
		}
		restored = v.Restored != nil
		until := midnightAfter(s.stamps.now(), in.Days)
		v.Restored = &until
		return nil
	})
	if err != nil {
		return nil, err
	}
	c.showVersion(&v)
	s.announceChange(c, &v, "ObjectRestore:Completed", "Object Restore Completed")
	if !restored {
		c.w.WriteHeader(http.StatusAccepted)
		return written{}, nil
	}
	return nil, nil
}

// class returns the name of a version's storage class.
func class(v *version) string {
	if v.StorageClass == "" {
		return standard
	}
	return v.StorageClass
}
