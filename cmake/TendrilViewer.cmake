# Puts the page of the viewer into the room `view`. Without it the room builds and says that there is no viewer.
function(tendril_embed_viewer)
  get_property(page GLOBAL PROPERTY TENDRIL_VIEWER_PAGE)
  if(NOT page OR NOT TARGET tendril_view)
    return()
  endif()
  add_dependencies(tendril_view tendril_viewer)
  set_source_files_properties(src/view/viewer_page.cpp PROPERTIES COMPILE_DEFINITIONS TENDRIL_VIEWER_PAGE="${page}" OBJECT_DEPENDS ${page})
endfunction()
