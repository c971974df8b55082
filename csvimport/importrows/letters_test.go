package importrows_test

import (
	"errors"
	"fmt"
	"slices"
	"strings"
	"testing"

	"stepback/aws/objects"
	"stepback/csvimport"
	"stepback/csvimport/importrows"
	"stepback/csvimport/objectstest"
	"stepback/local"
	"stepback/outbox/deadletters"
)

// summaryOf is the summary of an import with one rejected row, and corrections its corrections file.
func summaryOf(bucket, execution, letters, ended string) (summary, corrections string) {
	if letters != "" {
		letters = fmt.Sprintf(`"letters":%q,`, letters)
	}
	return fmt.Sprintf(`{"source":{"bucket":%q,"key":"a.csv","etag":"e"},"execution":%q,"endTime":%q,"rows":1,"rejected":1,%s
		"corrections":{"bucket":"results","key":"output/%s/corrections.csv"},"deadLetters":{"bucket":"results","key":"output/%s/dead-letters.jsonl"}}`,
			bucket, execution, ended, letters, execution, execution),
		"user_id,login_count,post_count,line,error,reason,letter\n" + bucket + ",many,1,2,ValidationError,bad,"
}

// The letters of equal files of two buckets have different IDs. Those of an import of an earlier version keep theirs.
func TestEqualFilesOfTwoBuckets(t *testing.T) {
	t.Parallel()
	var m objectstest.Memory
	put := func(bucket, execution, letters, id, ended string) {
		summary, corrections := summaryOf(bucket, execution, letters, ended)
		m.Set(csvimport.Location{Bucket: "results", Key: "output/" + execution + "/summary.json"}, summary, "")
		m.Set(csvimport.Location{Bucket: "results", Key: "output/" + execution + "/dead-letters.jsonl"}, "", "")
		m.Set(csvimport.Location{Bucket: "results", Key: "output/" + execution + "/corrections.csv"}, corrections+id+"\n", "")
	}
	source := func(bucket string) csvimport.Source { return csvimport.Source{Bucket: bucket, Key: "a.csv", ETag: "e"} }
	one, two := csvimport.Letters(source("one")), csvimport.Letters(source("two"))
	earlier := csvimport.EarlierLetters(source("three"))
	put("one", "x1", one, one+":2", "2026-11-27T01:00:00Z")
	put("two", "x2", two, two+":2", "2026-11-27T02:00:00Z")
	put("three", "x3", "", earlier+":2", "2026-11-27T03:00:00Z")
	rows := &importrows.Rows{Objects: &m, Bucket: "results"}
	found := map[string]string{}
	if err := rows.Each(t.Context(), func(l deadletters.Letter) error {
		found[l.ID] = l.Subject
		again, err := rows.Find(t.Context(), l.ID)
		if err == nil && again.Subject != l.Subject {
			err = errors.New(again.Subject)
		}
		return err
	}); err != nil {
		t.Fatal(err)
	}
	if len(found) != 3 || found[one+":2"] != "s3://one/a.csv" || found[two+":2"] != "s3://two/a.csv" ||
		found[earlier+":2"] != "s3://three/a.csv" {
		t.Errorf("%v", found)
	}
	if ids := []string{one, two, earlier}; len(slices.Compact(ids)) != 3 {
		t.Error(ids)
	}
}

// A file that an earlier version has imported keeps the IDs of its letters in each later import. An equal file of
// another bucket gets its own.
func TestLettersOfEarlierVersions(t *testing.T) {
	t.Parallel()
	p, err := local.Open(t.Context(), local.Config{})
	if err != nil {
		t.Fatal(err)
	}
	defer p.Close()
	if err := p.Objects.CreateBucket("results"); err != nil {
		t.Fatal(err)
	}
	store := objects.Local(p.Endpoint, "us-east-1")
	imported, other := csvimport.Source{Bucket: "in", Key: "a.csv", ETag: "e"}, csvimport.Source{Bucket: "other", Key: "a.csv", ETag: "e"}
	of := func(s csvimport.Source) string {
		letters, err := (&importrows.Enlister{Store: store}).Of(t.Context(), s, "results")
		if err != nil {
			t.Fatal(err)
		}
		return letters
	}
	if got := of(imported); got != csvimport.Letters(imported) {
		t.Errorf("never imported: %s", got)
	}
	put := func(execution, letters string) {
		summary, _ := summaryOf("in", execution, letters, "2026-11-27T01:00:00Z")
		if err := store.Put(t.Context(), objects.Put{Bucket: "results", Key: "output/" + execution + "/summary.json",
			Body: strings.NewReader(summary), Size: int64(len(summary))}); err != nil {
			t.Fatal(err)
		}
	}
	earlier := csvimport.EarlierLetters(imported)
	put(earlier[len(csvimport.LetterPrefix):]+"-3", csvimport.Letters(imported))
	if got := of(imported); got != csvimport.Letters(imported) {
		t.Errorf("imported by this version: %s", got)
	}
	put(earlier[len(csvimport.LetterPrefix):]+"-4", earlier)
	if got := of(imported); got != earlier {
		t.Errorf("imported again: %s", got)
	}
	put(earlier[len(csvimport.LetterPrefix):]+"-4", csvimport.Letters(imported))
	put(earlier[len(csvimport.LetterPrefix):]+"-2", "")
	if got := of(imported); got != earlier {
		t.Errorf("imported by an earlier version: %s", got)
	}
	if got := of(other); got != csvimport.Letters(other) {
		t.Errorf("of another bucket: %s", got)
	}
}
