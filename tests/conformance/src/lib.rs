//! The tools that the conformance suite of the Model Context Protocol calls, as a guest like any other. The suite fixes their names and
//! what each answers; that they can be written with the SDK shows that the interface can say all that the protocol can carry.

mod change;
mod contents;
mod forms;
mod rounds;
mod schemas;
mod signs;

hermes_tool::export!(
    toolset = "conformance",
    tools = [
        contents::test_simple_text,
        contents::test_image_content,
        contents::test_audio_content,
        contents::test_embedded_resource,
        contents::test_multiple_content_types,
        contents::test_error_handling,
        contents::test_structured_output,
        signs::test_tool_with_progress,
        signs::test_tool_with_logging,
        signs::test_logging_tool,
        signs::test_endless,
        forms::test_elicitation,
        forms::test_elicitation_sep1034_defaults,
        forms::test_elicitation_sep1330_enums,
        forms::test_streaming_elicitation,
        forms::test_missing_capability,
        rounds::test_input_required_result_elicitation,
        rounds::test_input_required_result_request_state,
        rounds::test_input_required_result_tampered_state,
        rounds::test_input_required_result_multi_round,
        schemas::json_schema_2020_12_tool,
        schemas::test_custom_header,
        change::test_trigger_tool_change,
    ]
);
