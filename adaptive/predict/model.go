package predict

import (
	"crypto/sha256"
	"encoding/hex"
	"encoding/json"
	"errors"
	"fmt"
	"math"
	"slices"
	"time"
)

// modelVersion is the version of the model file.
const modelVersion = 2

// Model is the model that [Train] selects. A model file records the training data's extent and the model's quality.
type Model struct {
	Version   int       `json:"version"`
	Kind      Kind      `json:"kind"`
	Features  []string  `json:"features"`
	N         int       `json:"n"`
	Train     int       `json:"train"`
	Calibrate int       `json:"calibrate"`
	Test      int       `json:"test"`
	From      time.Time `json:"from"`
	To        time.Time `json:"to"`
	Seed      uint64    `json:"seed"`
	// Brier is the selected model's score on the test part. Candidates are all models that were tried.
	Brier      float64     `json:"brier"`
	Candidates []Candidate `json:"candidates"`

	// Given lists the optional members of examples (failureRate, load, failingFor, bytes) that were known in the
	// training data. Lacked lists those that were unknown in some of it, so that the model knows what to expect without
	// them.
	Given  []string `json:"given"`
	Lacked []string `json:"lacked"`

	Rates               Rates        `json:"rates"`
	Logistic            *Logistic    `json:"logistic,omitempty"`
	LogisticCalibration *Calibration `json:"logisticCalibration,omitempty"`
	Forest              *Forest      `json:"forest,omitempty"`
	ForestCalibration   *Calibration `json:"forestCalibration,omitempty"`

	// Hash is the hash of all other fields.
	Hash string `json:"hash"`
}

// BeatsBaseRate reports whether the selected model predicts better than the base rate. If not, Predict returns the base
// rate for every retry.
func (m *Model) BeatsBaseRate() bool { return m.Kind != BaseRate }

// BaseRateBrier returns the Brier score of the base rate on the test part; NaN if the model file does not contain it.
func (m *Model) BaseRateBrier() float64 {
	for i := range m.Candidates {
		if m.Candidates[i].Kind == BaseRate {
			return m.Candidates[i].Score.Brier
		}
	}
	return math.NaN()
}

// Predict returns the probability that a retry succeeds; e.Succeeded is not used. If the model needs a feature that
// the example lacks, and that no training example lacked, it returns the base rate and false.
func (m *Model) Predict(e Example) (probability float64, complete bool) { return m.by(m.Kind, &e) }

func (m *Model) by(kind Kind, e *Example) (float64, bool) {
	switch kind {
	case BaseRate:
		return m.Rates.Base, true
	case ShrunkRates:
		if e.Error == "" {
			return m.Rates.Base, false
		}
		return m.Rates.of(e.Error, e.Attempt), true
	case LogisticKind, ForestKind:
	}
	for _, member := range m.Given {
		if _, known := e.known(member); !known && !slices.Contains(m.Lacked, member) {
			return m.Rates.Base, false
		}
	}
	x, ok := e.features(&m.Rates, m.Given)
	if !ok {
		return m.Rates.Base, false
	}
	if kind == ForestKind {
		return m.ForestCalibration.at(m.Forest.predict(x)), true
	}
	return m.LogisticCalibration.at(m.Logistic.predict(x)), true
}

// digest returns the hash of the model without its Hash field.
func (m Model) digest() (string, error) {
	m.Hash = ""
	text, err := json.Marshal(m)
	if err != nil {
		return "", fmt.Errorf("predict: %w", err)
	}
	sum := sha256.Sum256(text)
	return hex.EncodeToString(sum[:]), nil
}

func (m *Model) seal() (err error) {
	m.Hash, err = m.digest()
	return err
}

// Read decodes a model file. It returns an error if the file's version or features differ from this program's, or
// if the file was changed by hand or is damaged.
func Read(text []byte) (*Model, error) {
	var m Model
	if err := json.Unmarshal(text, &m); err != nil {
		return nil, fmt.Errorf("predict: it is not a model file: %w; stepback predict train writes one", err)
	}
	if err := m.Check(); err != nil {
		return nil, err
	}
	return &m, nil
}

// Check returns an error if the model's version or features differ from this program's, if it was changed by hand,
// or if it could not predict.
func (m *Model) Check() error {
	if m.Version != modelVersion {
		return fmt.Errorf("predict: the model file has version %d; this program reads version %d: train it again",
			m.Version, modelVersion)
	}
	if !slices.Equal(m.Features, FeatureNames) {
		return fmt.Errorf("predict: the model file has the features %v; this program has %v: train it again",
			m.Features, FeatureNames)
	}
	if hash, err := m.digest(); err != nil || hash != m.Hash {
		return errors.New("predict: the model file does not match its hash: " +
			"it was changed or is damaged; train it again")
	}
	return m.whole()
}

// whole returns an error if the model could not predict. The hash alone does not prove that it can, because the
// hash can be made by hand.
func (m *Model) whole() error {
	width := len(m.Features)
	malformed := errors.New("predict: the model file is malformed: train it again")
	calibrated := func(c *Calibration) bool { return c != nil }
	switch m.Kind {
	case BaseRate, ShrunkRates:
		return nil
	case LogisticKind:
		l := m.Logistic
		if l != nil && len(l.Mean) == width && len(l.Deviation) == width && len(l.Weights) == width &&
			calibrated(m.LogisticCalibration) {
			return nil
		}
	case ForestKind:
		if m.Forest == nil || len(m.Forest.Trees) == 0 || !calibrated(m.ForestCalibration) {
			return malformed
		}
		for _, tree := range m.Forest.Trees {
			for i, n := range tree {
				// Children come after their parent, so every walk ends.
				if n.Left != 0 && (n.Left <= i || n.Right <= i || n.Left >= len(tree) || n.Right >= len(tree) ||
					n.Feature < 0 || n.Feature >= width) {
					return malformed
				}
			}
			if len(tree) == 0 {
				return malformed
			}
		}
		return nil
	}
	return malformed
}
