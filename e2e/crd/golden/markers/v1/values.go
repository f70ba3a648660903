// Package v1 has a resource for each family of markers.
// +groupName=markers.golden.kctl.dev
// +versionName=v1
package v1

import (
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
)

// Texts has what can be said of strings.
// +kubebuilder:object:root=true
type Texts struct {
	metav1.TypeMeta   `json:",inline"`
	metav1.ObjectMeta `json:"metadata,omitempty"`

	// The fields.
	// +required
	Spec TextsSpec `json:"spec"`
}

// Mode is one of three.
// +kubebuilder:validation:Enum=Slow;Fast;"Very fast"
type Mode string

// Level is an enum by its constants.
// +k8s:enum
type Level string

// The levels.
const (
	LevelLow  Level = "Low"
	LevelHigh Level = "High"
)

// TextsSpec is what is wanted.
type TextsSpec struct {
	// A text between bounds.
	// +kubebuilder:validation:MinLength=2
	// +kubebuilder:validation:MaxLength=63
	// +kubebuilder:validation:Pattern=`^[a-z]([-a-z0-9]*[a-z0-9])?$`
	// +required
	Name string `json:"name"`

	// One of three.
	// +kubebuilder:default=Fast
	// +optional
	Mode Mode `json:"mode,omitempty"`

	// An enum by its constants.
	// +optional
	Level Level `json:"level,omitempty"`

	// A text with a title and an example.
	// It has two lines.
	//
	// And a second paragraph.
	// +kubebuilder:title="The label"
	// +kubebuilder:example="blue-1"
	// +optional
	Label string `json:"label,omitempty"`

	// May be null.
	// +nullable
	// +optional
	Note *string `json:"note"`

	// +optional
	Bare string `json:"bare,omitempty"`

	// An address.
	// +kubebuilder:validation:Format=ipv4
	// +optional
	Address string `json:"address,omitempty"`

	// A link.
	// +kubebuilder:validation:Format=uri
	// +kubebuilder:externalDocs:url="https://example.com/links",description="About links"
	// +optional
	Link string `json:"link,omitempty"`

	// Raw bytes.
	// +optional
	Data []byte `json:"data,omitempty"`

	// A default as Kubernetes writes it.
	// +default="on"
	// +optional
	Switch string `json:"switch,omitempty"`
}

// Numbers has what can be said of numbers.
// +kubebuilder:object:root=true
// +kubebuilder:resource:path=numbers,singular=number
type Numbers struct {
	metav1.TypeMeta   `json:",inline"`
	metav1.ObjectMeta `json:"metadata,omitempty"`

	// The fields.
	// +optional
	Spec NumbersSpec `json:"spec,omitempty"`
}

// NumbersSpec is what is wanted.
type NumbersSpec struct {
	// Between bounds.
	// +kubebuilder:validation:Minimum=1
	// +kubebuilder:validation:Maximum=10
	// +kubebuilder:default=3
	// +optional
	Small int32 `json:"small,omitempty"`

	// Beyond its bounds.
	// +kubebuilder:validation:Minimum=0
	// +kubebuilder:validation:ExclusiveMinimum=true
	// +kubebuilder:validation:Maximum=100
	// +kubebuilder:validation:ExclusiveMaximum=true
	// +optional
	Open int64 `json:"open,omitempty"`

	// In steps.
	// +kubebuilder:validation:MultipleOf=5
	// +optional
	Steps int64 `json:"steps,omitempty"`

	// Without a size.
	// +optional
	Plain int `json:"plain,omitempty"`

	// One of some numbers.
	// +kubebuilder:validation:Enum=1;2;4
	// +optional
	Power int32 `json:"power,omitempty"`

	// A fraction.
	// +kubebuilder:validation:Minimum=0
	// +kubebuilder:validation:Maximum=1
	// +optional
	Ratio float64 `json:"ratio,omitempty"`

	// By its markers of declarative validation.
	// +k8s:minimum=2
	// +k8s:maximum=8
	// +k8s:optional
	Declared int32 `json:"declared,omitempty"`

	// Yes or no.
	// +kubebuilder:default=true
	// +optional
	Flag *bool `json:"flag,omitempty"`
}

// Lists has what can be said of lists and maps.
// +kubebuilder:object:root=true
type Lists struct {
	metav1.TypeMeta   `json:",inline"`
	metav1.ObjectMeta `json:"metadata,omitempty"`

	// The fields.
	// +required
	Spec ListsSpec `json:"spec"`
}

// Port is a part of a list.
type Port struct {
	// The name of the port.
	// +kubebuilder:validation:MaxLength=15
	// +required
	Name string `json:"name"`

	// How it is reached.
	// +kubebuilder:default=TCP
	// +optional
	Protocol string `json:"protocol"`

	// Its number.
	// +optional
	Number int32 `json:"number,omitempty"`
}

// Point has one owner.
// +structType=atomic
type Point struct {
	// Across.
	// +required
	X int32 `json:"x"`
	// Up.
	// +required
	Y int32 `json:"y"`
}

// ListsSpec is what is wanted.
type ListsSpec struct {
	// A set of texts.
	// +listType=set
	// +kubebuilder:validation:MinItems=1
	// +kubebuilder:validation:MaxItems=5
	// +kubebuilder:validation:items:MinLength=1
	// +kubebuilder:validation:items:MaxLength=10
	// +required
	Tags []string `json:"tags"`

	// A list by two keys.
	// +listType=map
	// +listMapKey=name
	// +listMapKey=protocol
	// +optional
	Ports []Port `json:"ports,omitempty"`

	// A list with one owner.
	// +listType=atomic
	// +kubebuilder:default={"a","b"}
	// +optional
	Order []string `json:"order,omitempty"`

	// A list of lists.
	// +optional
	Rows [][]int32 `json:"rows,omitempty"`

	// A map of texts.
	// +kubebuilder:validation:MinProperties=1
	// +kubebuilder:validation:MaxProperties=4
	// +optional
	Labels map[string]string `json:"labels,omitempty"`

	// A map with one owner.
	// +mapType=atomic
	// +optional
	Limits map[string]int64 `json:"limits,omitempty"`

	// A map of objects.
	// +mapType=granular
	// +optional
	Places map[string]Port `json:"places,omitempty"`

	// An object with one owner.
	// +optional
	Point *Point `json:"point,omitempty"`

	// An object with a default.
	// +kubebuilder:default={x: 1, y: 2}
	// +structType=granular
	// +optional
	Start *Inner `json:"start,omitempty"`
}

// Inner is an object with owners for each field.
type Inner struct {
	// Across.
	// +required
	X int32 `json:"x"`
	// Up.
	// +required
	Y int32 `json:"y"`
}
