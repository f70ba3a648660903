package v1

import (
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/runtime"
	"k8s.io/apimachinery/pkg/util/intstr"
)

// Spellings has the markers of items, and the second spelling of those that have two.
// +kubebuilder:object:root=true
// +kubebuilder:printcolumn:name=Least,type=integer,JSONPath=`.spec.least`,description="The smallest",format=int32,priority=1
type Spellings struct {
	metav1.TypeMeta   `json:",inline"`
	metav1.ObjectMeta `json:"metadata,omitempty"`

	// The fields.
	// +kubebuilder:validation:Required
	Spec SpellingsSpec `json:"spec,omitempty"`
}

// Part is a part of a list.
type Part struct {
	// A name.
	// +k8s:required
	Name string `json:"name,omitempty"`
	// A size.
	// +kubebuilder:validation:Optional
	Size int32 `json:"size"`
}

// SpellingsSpec is what is wanted.
type SpellingsSpec struct {
	// Bounds of each number.
	// +kubebuilder:validation:items:Minimum=1
	// +kubebuilder:validation:items:Maximum=9
	// +kubebuilder:validation:items:ExclusiveMinimum=true
	// +kubebuilder:validation:items:ExclusiveMaximum=true
	// +kubebuilder:validation:items:MultipleOf=2
	// +optional
	Bounded []int64 `json:"bounded,omitempty"`

	// One of two each.
	// +kubebuilder:validation:items:Enum=a;b
	// +optional
	Chosen []string `json:"chosen,omitempty"`

	// Texts of a form.
	// +kubebuilder:validation:items:Pattern=`^[a-z]+$`
	// +kubebuilder:validation:items:MinLength=2
	// +kubebuilder:validation:items:MaxLength=8
	// +optional
	Formed []string `json:"formed,omitempty"`

	// Addresses.
	// +kubebuilder:validation:items:Format=ipv6
	// +optional
	Addresses []string `json:"addresses,omitempty"`

	// Lists of a size.
	// +kubebuilder:validation:items:MinItems=1
	// +kubebuilder:validation:items:MaxItems=3
	// +optional
	Sized [][]string `json:"sized,omitempty"`

	// Maps of a size.
	// +kubebuilder:validation:items:MinProperties=1
	// +kubebuilder:validation:items:MaxProperties=3
	// +optional
	Named []map[string]string `json:"named,omitempty"`

	// Ints or strings.
	// +kubebuilder:validation:items:XIntOrString
	// +optional
	Ports []intstr.IntOrString `json:"ports,omitempty"`

	// Kubernetes objects.
	// +kubebuilder:validation:items:XEmbeddedResource
	// +kubebuilder:validation:items:XPreserveUnknownFields
	// +optional
	Objects []runtime.RawExtension `json:"objects,omitempty"`

	// A Kubernetes object.
	// +kubebuilder:validation:XEmbeddedResource
	// +kubebuilder:validation:XPreserveUnknownFields
	// +optional
	Object *runtime.RawExtension `json:"object,omitempty"`

	// A type of the items.
	// +kubebuilder:validation:items:Type=string
	// +optional
	Written []Written `json:"written,omitempty"`

	// A rule for each.
	// +kubebuilder:validation:items:XValidation:rule="self != 'bad'",message="bad is not good",reason=FieldValueForbidden
	// +kubebuilder:validation:items:MaxLength=10
	// +kubebuilder:validation:MaxItems=5
	// +optional
	Ruled []string `json:"ruled,omitempty"`

	// A list by a key, in the spelling of declarative validation.
	// +k8s:listType=map
	// +k8s:listMapKey=name
	// +k8s:maxItems=4
	// +optional
	Parts []Part `json:"parts,omitempty"`

	// The smallest.
	// +k8s:minimum=1
	// +k8s:optional
	Least int32 `json:"least,omitempty"`
}
