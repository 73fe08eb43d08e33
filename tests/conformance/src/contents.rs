//! One tool for each kind of content, one with several, one that fails, and one whose result has a schema.

use hermes_tool::{Body, Content, Embedded, Error, Json, Media, NoArgs, Result, output, tool};

/// The smallest picture there is: one red pixel, as PNG.
const PIXEL: [u8; 69] = [
    0x89, 0x50, 0x4e, 0x47, 0x0d, 0x0a, 0x1a, 0x0a, 0x00, 0x00, 0x00, 0x0d, 0x49, 0x48, 0x44, 0x52, 0x00, 0x00, 0x00,
    0x01, 0x00, 0x00, 0x00, 0x01, 0x08, 0x02, 0x00, 0x00, 0x00, 0x90, 0x77, 0x53, 0xde, 0x00, 0x00, 0x00, 0x0c, 0x49,
    0x44, 0x41, 0x54, 0x78, 0xda, 0x63, 0xf8, 0xcf, 0xc0, 0x00, 0x00, 0x03, 0x01, 0x01, 0x00, 0xf7, 0x03, 0x41, 0x43,
    0x00, 0x00, 0x00, 0x00, 0x49, 0x45, 0x4e, 0x44, 0xae, 0x42, 0x60, 0x82,
];

/// Samples of the sound in a second, one byte each.
const RATE: u32 = 8000;

/// Answers with a text.
#[tool(read_only)]
pub(crate) fn test_simple_text(_: NoArgs) -> Result<String> {
    Ok("This is a simple text response for testing.".into())
}

/// Answers with a picture.
#[tool(read_only)]
pub(crate) fn test_image_content(_: NoArgs) -> Result<Content> {
    Ok(picture())
}

/// Answers with a sound.
#[tool(read_only)]
pub(crate) fn test_audio_content(_: NoArgs) -> Result<Content> {
    Ok(Content::Audio(Media { mime_type: "audio/wav".into(), data: wave(&[128; 8]) }))
}

/// Answers with a document.
#[tool(read_only)]
pub(crate) fn test_embedded_resource(_: NoArgs) -> Result<Content> {
    Ok(document("test://embedded-resource", "text/plain", "This is an embedded resource content."))
}

/// Answers with a text, a picture and a document.
#[tool(read_only)]
pub(crate) fn test_multiple_content_types(_: NoArgs) -> Result<Vec<Content>> {
    let data = r#"{"test":"data","value":123}"#;
    Ok(vec![
        Content::Text("Multiple content types test:".into()),
        picture(),
        document("test://mixed-content-resource", "application/json", data),
    ])
}

/// Always fails.
#[tool(read_only)]
pub(crate) fn test_error_handling(_: NoArgs) -> Result<String> {
    Err(Error::failed("This tool intentionally returns an error for testing"))
}

/// The weather of a place that is always the same.
#[output]
pub(crate) struct Weather {
    /// Degrees Celsius.
    temperature: f64,
    /// In a word.
    conditions: String,
}

/// Answers with a value that has a schema.
#[tool(read_only)]
pub(crate) fn test_structured_output(_: NoArgs) -> Result<Json<Weather>> {
    Ok(Json(Weather { temperature: 22.5, conditions: "cloudy".into() }))
}

fn picture() -> Content {
    Content::Image(Media { mime_type: "image/png".into(), data: PIXEL.into() })
}

fn document(uri: &str, mime_type: &str, text: &str) -> Content {
    Content::Resource(Embedded { uri: uri.into(), mime_type: Some(mime_type.into()), body: Body::Text(text.into()) })
}

/// Samples of one byte as a WAV file with one channel.
fn wave(samples: &[u8]) -> Vec<u8> {
    let size = samples.len() as u32;
    let mut file = Vec::from(*b"RIFF");
    file.extend((36 + size).to_le_bytes());
    file.extend(*b"WAVEfmt ");
    // The length of what follows, PCM, one channel; then samples and bytes in a second, bytes and bits in a sample.
    for (number, width) in [(16, 4), (1, 2), (1, 2), (RATE, 4), (RATE, 4), (1, 2), (8, 2)] {
        file.extend(number.to_le_bytes().into_iter().take(width));
    }
    file.extend(*b"data");
    file.extend(size.to_le_bytes());
    file.extend(samples);
    file
}
