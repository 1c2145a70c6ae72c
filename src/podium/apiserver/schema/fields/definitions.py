"""Definitions of custom resources.

Parts of a schema that are one thing or another (a schema or a list, a schema or a bool) are taken
as they come; `crds` judges them.
`schema/notation.py` explains the notation.
"""

TEXT = """
[apiextensions]
ConditionStatus, ConversionStrategyType, CustomResourceDefinitionConditionType, JSONSchemaURL,
ResourceScope = string
FieldValueErrorReason = FieldValueDuplicate | FieldValueForbidden | FieldValueInvalid |
  FieldValueRequired
JSONSchemaDefinitions = map[string]JSONSchemaProps
JSONSchemaDependencies = map[string]JSONSchemaPropsOrStringArray
ValidationRules = []ValidationRule
CustomResourceDefinition object
    metadata ObjectMeta; spec! CustomResourceDefinitionSpec; status CustomResourceDefinitionStatus
CustomResourceDefinitionSpec
    group! string; names! CustomResourceDefinitionNames; scope! ResourceScope;
    versions! []CustomResourceDefinitionVersion; conversion *CustomResourceConversion;
    preserveUnknownFields bool
CustomResourceDefinitionNames
    plural!, singular string; shortNames []string; kind!, listKind string; categories []string
CustomResourceDefinitionVersion
    name! string; served!, storage!, deprecated bool; deprecationWarning *string;
    schema *CustomResourceValidation; subresources *CustomResourceSubresources;
    additionalPrinterColumns []CustomResourceColumnDefinition; selectableFields []SelectableField
CustomResourceValidation
    openAPIV3Schema *JSONSchemaProps
JSONSchemaProps
    id string; $schema JSONSchemaURL; $ref *string; description, type, format, title string;
    default *JSON; maximum *float64; exclusiveMaximum bool; minimum *float64;
    exclusiveMinimum bool; maxLength, minLength *int64; pattern string; maxItems, minItems *int64;
    uniqueItems bool; multipleOf *float64; enum []JSON; maxProperties, minProperties *int64;
    required []string; items *JSONSchemaPropsOrArray; allOf, oneOf, anyOf []JSONSchemaProps;
    not *JSONSchemaProps; properties map[string]JSONSchemaProps;
    additionalProperties *JSONSchemaPropsOrBool; patternProperties map[string]JSONSchemaProps;
    dependencies JSONSchemaDependencies; additionalItems *JSONSchemaPropsOrBool;
    definitions JSONSchemaDefinitions; externalDocs *ExternalDocumentation; example *JSON;
    nullable bool; x-kubernetes-preserve-unknown-fields *bool;
    x-kubernetes-embedded-resource, x-kubernetes-int-or-string bool;
    x-kubernetes-list-map-keys []string; x-kubernetes-list-type, x-kubernetes-map-type *string;
    x-kubernetes-validations ValidationRules{rule} merge
ExternalDocumentation
    description, url string
ValidationRule
    rule!, message, messageExpression string; reason *FieldValueErrorReason; fieldPath string;
    optionalOldSelf *bool
CustomResourceSubresources
    status *CustomResourceSubresourceStatus; scale *CustomResourceSubresourceScale
CustomResourceSubresourceStatus
CustomResourceSubresourceScale
    specReplicasPath!, statusReplicasPath! string; labelSelectorPath *string
CustomResourceColumnDefinition
    name!, type!, format, description string; priority int32; jsonPath! string
SelectableField
    jsonPath! string
CustomResourceConversion
    strategy! ConversionStrategyType; webhook *WebhookConversion
WebhookConversion
    clientConfig *WebhookClientConfig; conversionReviewVersions! []string
WebhookClientConfig
    url *string; service *ServiceReference; caBundle []byte
ServiceReference
    namespace!, name! string; path *string; port *int32
CustomResourceDefinitionStatus
    conditions+ []CustomResourceDefinitionCondition{type};
    acceptedNames+ CustomResourceDefinitionNames; storedVersions+ []string;
    observedGeneration int64
CustomResourceDefinitionCondition
    type! CustomResourceDefinitionConditionType; status! ConditionStatus; lastTransitionTime Time;
    reason, message string; observedGeneration int64
"""
