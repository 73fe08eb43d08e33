//! Images, by their first bytes.

use hermes_tool::fs;
use imagesize::ImageType;

use super::Read;

/// Bytes that are looked at. The size stands in the first few, except after the metadata of a photo; where those are larger, the
/// image has none here.
const HEAD: u64 = 64 * 1024;

/// What is known of an image.
#[derive(Debug, PartialEq, Eq)]
pub(super) struct Image {
    mime_type: &'static str,
    /// Width and height in pixels.
    size: Option<(usize, usize)>,
}

/// The image that the file holds, if it is one.
pub(super) fn look(path: &str) -> Option<Image> {
    let head = fs::read(path, 0, HEAD).map(|piece| piece.bytes).unwrap_or_default();
    recognise(&head, path)
}

impl Image {
    pub(super) fn describe(self, read: Read) -> Read {
        let size = self.size.map(|(width, height)| format!(" of {width} by {height} pixels")).unwrap_or_default();
        Read {
            is_image: Some(true),
            mime_type: Some(self.mime_type.into()),
            width: self.size.map(|(width, _)| width as u64),
            height: self.size.map(|(_, height)| height as u64),
            hint: Some(format!("this is an image ({}){size}: read_file shows text only", self.mime_type)),
            ..read
        }
    }
}

fn recognise(head: &[u8], path: &str) -> Option<Image> {
    let mime_type = match imagesize::image_type(head) {
        Ok(ImageType::Png) => "image/png",
        Ok(ImageType::Jpeg) => "image/jpeg",
        Ok(ImageType::Gif) => "image/gif",
        Ok(ImageType::Webp) => "image/webp",
        Ok(ImageType::Bmp) => "image/bmp",
        Ok(ImageType::Tiff) => "image/tiff",
        Ok(ImageType::Ico) => "image/x-icon",
        _ => return by_name(path).map(|mime_type| Image { mime_type, size: None }),
    };
    let size = imagesize::blob_size(head).ok().map(|size| (size.width, size.height));
    Some(Image { mime_type, size })
}

/// For what has no start of its own, or one that videos have too.
fn by_name(path: &str) -> Option<&'static str> {
    let (_, extension) = path.rsplit_once('.')?;
    Some(match extension.to_ascii_lowercase().as_str() {
        "avif" => "image/avif",
        "heic" | "heif" => "image/heic",
        "jxl" => "image/jxl",
        "psd" => "image/vnd.adobe.photoshop",
        "tga" => "image/x-tga",
        _ => return None,
    })
}

#[cfg(test)]
mod tests {
    use super::*;
    use proptest::prelude::*;

    fn seen(head: &[u8]) -> Option<Image> {
        recognise(head, "file.bin")
    }

    #[test]
    fn formats_are_known_by_their_bytes() {
        let png = b"\x89PNG\r\n\x1a\n\0\0\0\rIHDR\0\0\x02\x80\0\0\x01\xe0\x08\x06\0\0\0";
        assert_eq!(seen(png), Some(Image { mime_type: "image/png", size: Some((640, 480)) }));
        let gif = b"GIF89a\x10\0\x20\0\xf0\0\0";
        assert_eq!(seen(gif), Some(Image { mime_type: "image/gif", size: Some((16, 32)) }));
        let jpeg = b"\xff\xd8\xff\xe0\0\x04ab\xff\xc0\0\x11\x08\0\x20\0\x40\x03\x01\x22\0\x02\x11\x01\x03\x11\x01";
        assert_eq!(seen(jpeg), Some(Image { mime_type: "image/jpeg", size: Some((64, 32)) }));
        let webp = b"RIFF\x1a\0\0\0WEBPVP8L\x0d\0\0\0\x2f\x0f\xc0\x07\0\0\0\0\0\0\0\0\0\0";
        assert_eq!(seen(webp).unwrap().mime_type, "image/webp");
    }

    #[test]
    fn a_size_that_is_not_there_is_not_invented() {
        assert_eq!(seen(b"\xff\xd8\xff\xe1\xff\xffExif\0\0"), Some(Image { mime_type: "image/jpeg", size: None }));
    }

    #[test]
    fn a_name_helps_where_the_bytes_do_not() {
        assert_eq!(recognise(b"\0\0\0\x1cftypheic", "photo.HEIC").unwrap().mime_type, "image/heic");
        assert_eq!(recognise(b"\0asm\x01\0\0\0", "tool.wasm"), None);
        // The name alone makes no PNG.
        assert_eq!(recognise(b"\0\0\0\0", "a.png"), None);
    }

    proptest! {
        #[test]
        fn no_bytes_make_it_panic(
            magic in prop::sample::select(vec![
                &b"\x89PNG\r\n\x1a\n"[..], b"\xff\xd8\xff", b"GIF89a", b"RIFF\0\0\0\0WEBPVP8 ", b"RIFF\0\0\0\0WEBPVP8X",
                b"RIFF\0\0\0\0WEBPVP8L", b"BM", b"II*\0", b"MM\0*", b"\0\0\x01\0", b"",
            ]),
            rest in prop::collection::vec(any::<u8>(), 0..200),
        ) {
            seen(&[magic, &rest].concat());
        }
    }
}
